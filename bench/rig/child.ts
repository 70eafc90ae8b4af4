// How does a bench start a process and talk to it?
import { readLines } from "./lines.ts";

/** How much of what a process complained about is kept to explain its end. */
const complaintCharsMax = 2_000;
const endAfterMsMax = 5_000;

/** A process that prints JSON lines; killed when its scope ends. */
export class Child implements AsyncDisposable {
  readonly pid: number;
  readonly #process: Deno.ChildProcess;
  readonly #lines: AsyncGenerator<string>;
  readonly #complaint: Promise<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;

  constructor(
    readonly name: string,
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#process = new Deno.Command(command[0], {
      args: command.slice(1),
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#process.pid;
    this.#lines = readLines(this.#process.stdout);
    this.#complaint = tailOf(this.#process.stderr);
    this.#input = this.#process.stdin.getWriter();
  }

  /**
   * The next line that the process prints, as JSON; lines that are none are passed over.
   * @throws {Error} When it ends, or says nothing for `afterMsMax`.
   */
  async next<T>(afterMsMax: number): Promise<T> {
    const deadline = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => deadline.reject(new Error(`${this.name} says nothing for ${afterMsMax} ms`)),
      afterMsMax,
    );
    try {
      while (true) {
        const { value, done } = await Promise.race([this.#lines.next(), deadline.promise]);
        if (done) throw new Error(`${this.name} ended: ${(await this.#complaint).trim()}`);
        if (value.startsWith("{")) return JSON.parse(value);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends one JSON line and waits for the answer. */
  async ask<T>(question: unknown, afterMsMax: number): Promise<T> {
    await this.#input.write(new TextEncoder().encode(JSON.stringify(question) + "\n"));
    return await this.next<T>(afterMsMax);
  }

  /** Reads and drops what else it prints, so that it never waits for us. */
  ignoreOutput(): void {
    (async () => {
      while (!(await this.#lines.next()).done);
    })().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const kill = (signal: Deno.Signal) => {
      try {
        this.#process.kill(signal);
      } catch {
        // It is gone.
      }
    };
    kill("SIGTERM");
    const timer = setTimeout(() => kill("SIGKILL"), endAfterMsMax);
    await this.#process.status;
    clearTimeout(timer);
    await this.#input.close().catch(() => {});
  }
}

async function tailOf(bytes: ReadableStream<Uint8Array>): Promise<string> {
  let tail = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    tail = (tail + text).slice(-complaintCharsMax);
  }
  return tail;
}
