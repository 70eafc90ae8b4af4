// How is the Go original measured beside us, without ever seeing a network?
import { dirname, join, resolve } from "node:path";
import { Child } from "./child.ts";
import type { BenchOptions } from "./options.ts";

const readyAfterMsMax = 120_000;

/** Starts the original's head and one worker before the engine. @returns The URL of its head. */
export async function startReference(
  stack: AsyncDisposableStack,
  path: string,
  engineUrl: string,
): Promise<string> {
  const child = stack.use(new Child("original", [path, new URL(engineUrl).port]));
  const { head } = await child.next<{ head: string }>(readyAfterMsMax);
  child.ignoreOutput();
  return head;
}

/**
 * The original looks for public peers when it can. So a bench that measures it starts itself again inside the
 * script `isolated`, which stands beside `reference` and gives a network of nothing but loopback.
 * @returns The exit code of the bench inside; `undefined` when this process is to go on itself.
 */
export async function runIsolated(
  args: readonly string[],
  options: BenchOptions,
): Promise<number | undefined> {
  if (options.reference === undefined || options.isIsolated) return undefined;
  const isolated = join(dirname(resolve(options.reference)), "isolated");
  // Inside nothing can be downloaded.
  if (options.exe === undefined) await succeed([Deno.execPath(), "cache", "main.ts"]);
  const { code } = await new Deno.Command(isolated, {
    args: [Deno.execPath(), "task", "--quiet", "bench", ...args, "--isolated"],
  }).spawn().status;
  return code;
}

/** @returns The path of the script, or `undefined` after a line that says why there is none. */
export async function findReference(
  path: string | undefined,
  note: (text: string) => void,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  for (const file of [path, join(dirname(path), "isolated")]) {
    try {
      await Deno.stat(file);
    } catch {
      note(`The original is left out: no file ${file}`);
      return undefined;
    }
  }
  return resolve(path);
}

async function succeed(command: readonly string[]): Promise<void> {
  const { code } = await new Deno.Command(command[0], { args: command.slice(1) }).spawn().status;
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}`);
}
