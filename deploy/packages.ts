// Are the packages that the nodes need on this machine?
import { fileURLToPath } from "node:url";
import { Program } from "../tests/support/program.ts";
import { secondMs } from "../lib/base/units.ts";

/** Longer than this, it is downloading, and a person wants to know (with all cached it takes 0.2 s). */
const quietMs = 1.5 * secondMs;

/**
 * Downloads what is missing, once, before several nodes would do it at the same time. Nodes run with a
 * temporary home, where npm's own settings are not found; here the user's count.
 * @param onSlow Called when there is something to wait for.
 * @throws {Error} With the last line of what went wrong.
 */
export async function preparePackages(onSlow: () => void, signal: AbortSignal): Promise<void> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  await using program = new Program({
    command: Deno.execPath(),
    args: ["cache", "--quiet", "--frozen", "main.ts", "lib/node/thread.ts"],
    env: { DENO_TLS_CA_STORE: "system,mozilla", ...Deno.env.toObject() },
    cwd: root,
    signal,
  });
  const timer = setTimeout(onSlow, quietMs);
  try {
    const { success } = await program.ended;
    signal.throwIfAborted();
    if (!success) throw new Error(`Cannot get the packages: ${program.stderr.lastLine}`);
  } finally {
    clearTimeout(timer);
  }
}
