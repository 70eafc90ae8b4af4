// How does a test run an engine as a process of its own, so that it can be killed?
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** A running engine process. */
export type EngineProcess = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Sends a signal: `SIGSTOP` freezes it, `SIGKILL` is a crash. */
  signal(signal: Deno.Signal): void;
  /** Changes what it answers (`models`, `health`, `modelsStatus`, `isHanging`). */
  set(state: Readonly<Record<string, unknown>>): Promise<void>;
  /** Kills it and waits for its end; harmless when it has ended. */
  stop(): Promise<void>;
};

/**
 * Starts `engine.ts` with flags such as `["--models", "a,b", "--port", "0"]`.
 * @throws {Error} When it ends before it says its URL.
 */
export async function startEngineProcess(args: readonly string[] = []): Promise<EngineProcess> {
  const script = fileURLToPath(new URL("engine.ts", import.meta.url));
  const permissions = ["--allow-net"];
  const unix = args.indexOf("--unix");
  if (unix >= 0) {
    permissions.push(`--allow-read=${args[unix + 1]}`, `--allow-write=${args[unix + 1]}`);
  }
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", ...permissions, script, "--json", ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) });
  const first = await new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(undefined));
  });
  if (first === undefined) throw new Error(`The engine ended with ${(await child.status).code}`);
  const { url, port } = JSON.parse(first) as { url: string; port: number };
  return {
    url,
    port,
    pid: child.pid,
    signal: (signal) => child.kill(signal),
    set: async (state) => {
      const body = JSON.stringify(state);
      const response = await fetch(`${url}/_engine/set`, { method: "POST", body });
      await response.body?.cancel();
    },
    stop: async () => {
      try {
        child.kill("SIGKILL");
      } catch {
        // It had ended already.
      }
      await child.status;
      lines.close();
    },
  };
}
