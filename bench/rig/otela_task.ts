// With which flags does a user run otela from source?
import config from "../../deno.json" with { type: "json" };

/** The task `otela` of `deno.json`, taken apart. */
export type OtelaTask = {
  readonly env: Readonly<Record<string, string>>;
  /** Flags of `deno run`. */
  readonly flags: readonly string[];
  /** The program, relative to the repository. */
  readonly program: string;
};

/** Read from `deno.json`, so that a bench measures what the task starts. */
export function otelaTask(): OtelaTask {
  const words = config.tasks.otela.split(" ");
  const runAt = words.indexOf("run");
  const env = Object.fromEntries(words.slice(0, runAt - 1).map((word) => word.split("=")));
  return { env, flags: words.slice(runAt + 1, -1), program: words[words.length - 1] };
}

/** A command line that starts otela: from source as the task does, or an executable. */
export function otelaCommand(
  exe: string | undefined,
): { command: string[]; env: Record<string, string> } {
  if (exe !== undefined) return { command: [exe], env: {} };
  const { env, flags, program } = otelaTask();
  const path = new URL(`../../${program}`, import.meta.url).pathname;
  return { command: [Deno.execPath(), "run", ...flags, path], env };
}
