// How does the node run a tool that only answers?
import { messageOf, OtelaError } from "../base/errors.ts";
import { type Bytes, KiB, type Ms } from "../base/units.ts";

/** What a tool said. */
export type ToolResult = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Bounds of one run. */
export type ToolLimits = { readonly timeoutMs: Ms; readonly outputBytesMax: Bytes };

/** A driver that hangs must not hold up the start; tables of 64 GPUs have 8 KiB. Guess. */
export const toolLimits: ToolLimits = { timeoutMs: 5_000, outputBytesMax: 256 * KiB };

/**
 * Runs a program without a shell, input or our environment: with `LD_…` set, as by every CUDA module, a
 * scoped permission to run is refused (protocol §9).
 * @param path Absolute.
 * @throws {OtelaError} `timed_out` after the limit, when the program is killed; `state_unusable` when it cannot
 * start or says more than the bound.
 */
export async function runTool(
  path: string,
  args: readonly string[],
  limits: ToolLimits = toolLimits,
): Promise<ToolResult> {
  const child = spawn(path, args);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const fail = (error: OtelaError) => {
    kill(child);
    reject(error);
  };
  const timer = setTimeout(() => {
    const message = `Cannot wait for "${path}" as it must end within ${limits.timeoutMs} ms`;
    fail(new OtelaError("timed_out", message));
  }, limits.timeoutMs);
  const read = (stream: ReadableStream<Uint8Array>) =>
    readBounded(stream, limits.outputBytesMax).catch((error) => {
      fail(new OtelaError("state_unusable", `Cannot read from "${path}": ${messageOf(error)}`));
      return "";
    });
  const output = Promise.all([read(child.stdout), read(child.stderr), child.status]);
  try {
    // A program stuck in the kernel does not even die, so the end of the limit does not wait for it.
    const [stdout, stderr, { code }] = await Promise.race([output, late]);
    return { exitCode: code, stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
}

function spawn(path: string, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(path, {
      args: [...args],
      clearEnv: true,
      env: { LC_ALL: "C" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    const message = `Cannot run "${path}": ${messageOf(cause)}`;
    throw new OtelaError("state_unusable", message, { cause });
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It ended by itself in the meantime.
  }
}

async function readBounded(stream: ReadableStream<Uint8Array>, bytesMax: Bytes): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error(`it must say at most ${bytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
