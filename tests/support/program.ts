// How do we run a program, read what it says line by line, and surely end it?
import type { Ms } from "../../lib/base/units.ts";
import { secondMs } from "../../lib/base/units.ts";
import { LineRecord } from "./line_record.ts";

/** What to run; nothing of our own environment is passed on unless it is named. */
export type ProgramOptions = {
  /** Absolute path, or a name to look up on the PATH of `env`. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | URL;
  /** `open` for an input on which nothing ever comes; by default it is at its end. */
  readonly input?: "open";
  /** When it aborts, the program is ended as by `end()`. */
  readonly signal?: AbortSignal;
};

/** How long a program has between TERM and KILL, unless said otherwise (guess: a node drains in less). */
export const graceDefaultMs: Ms = 3 * secondMs;

/**
 * A running program in a process group of its own, so that Ctrl-C in our terminal reaches us alone and
 * ending it also ends what it started. Leaving an `await using` scope ends it.
 */
export class Program implements AsyncDisposable {
  readonly pid: number;
  readonly stdout: LineRecord;
  readonly stderr: LineRecord;
  /** Settles when the program is gone and both its outputs were read. */
  readonly ended: Promise<Deno.CommandStatus>;

  #isRunning = true;

  /**
   * Starts it.
   * @throws {Deno.errors.NotFound} When there is no such command.
   * @throws The reason of `signal` when it has aborted before.
   */
  constructor(options: ProgramOptions) {
    const { signal } = options;
    signal?.throwIfAborted();
    const child = new Deno.Command(options.command, {
      args: [...options.args],
      env: { ...options.env },
      clearEnv: true,
      cwd: options.cwd,
      detached: true,
      stdin: options.input === "open" ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = child.pid;
    this.stdout = new LineRecord(child.stdout);
    this.stderr = new LineRecord(child.stderr);
    const abort = () => void this.end();
    signal?.addEventListener("abort", abort);
    this.ended = child.status.then(async (status) => {
      this.#isRunning = false;
      signal?.removeEventListener("abort", abort);
      if (options.input === "open") await child.stdin.close().catch(() => {}); // Torn down by its end.
      this.signal("SIGKILL"); // Whatever it started and left behind would hold the outputs open.
      await Promise.all([this.stdout.ended, this.stderr.ended]);
      return status;
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Sends a signal to the program and everything in its group; does nothing when all of it is gone. */
  signal(name: Deno.Signal): void {
    try {
      Deno.kill(-this.pid, name);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Asks it to end, and kills it when it has not done so after `graceMs`. */
  async end(graceMs: Ms = graceDefaultMs): Promise<Deno.CommandStatus> {
    if (this.#isRunning) this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), graceMs);
    try {
      return await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
