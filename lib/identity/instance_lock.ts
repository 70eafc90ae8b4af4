// Is this process the only one that uses this instance, and does it stay so?
import { clearInterval, setInterval } from "node:timers";
import { messageOf } from "../base/errors.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { beatLock, lockDirectory } from "./directory_lock.ts";
import { disk } from "./disk.ts";
import type { FileSystem } from "./file_system.ts";
import type { Processes, ProcessMark } from "./process_mark.ts";
import { systemProcesses } from "./system_processes.ts";

/** protocol §8: a holder on another host is judged by its heartbeat. */
const staleAfterMs: Ms = 30 * secondMs;
/** Two beats may fail before others take over. */
const heartbeatEveryMs: Ms = 10 * secondMs;

/** What `acquireInstanceLock` may be given in place of the real world. */
export type InstanceLockOptions = {
  readonly files?: FileSystem;
  readonly processes?: Processes;
  readonly heartbeatEveryMs?: Ms;
  /** Told what a person should know, while held. */
  readonly warn?: (warning: string) => void;
};

/** One directory that is held. */
type Held = { readonly directory: string; readonly generation: number };

/** Directories held by this process until it is closed. */
export class InstanceLock implements AsyncDisposable {
  #heartbeat = 0;
  #beating: Promise<void> | undefined;
  #isReleased = false;
  readonly #timer: NodeJS.Timeout;
  readonly #lost = new AbortController();

  /** Use {@link acquireInstanceLock}. */
  constructor(
    readonly held: readonly Held[],
    readonly self: ProcessMark & { readonly token: string },
    readonly options: Required<Omit<InstanceLockOptions, "processes">>,
  ) {
    this.#timer = setInterval(() => this.#beatOnce(), options.heartbeatEveryMs);
    this.#timer.unref(); // A lock keeps no process alive.
  }

  /** Aborted when another process took over, because this one stood still for too long: stop at once. Never by `release`. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Gives all directories back. Idempotent; a failure is a warning, since a dead holder blocks nobody. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    if (this.#isReleased || this.#lost.signal.aborted) return;
    this.#isReleased = true;
    await this.#write(true);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** A beat that hangs on a slow disk is not overtaken by the next. */
  #beatOnce(): void {
    this.#heartbeat++;
    this.#beating ??= this.#write(false).finally(() => this.#beating = undefined);
  }

  async #write(isReleased: boolean): Promise<void> {
    const { files, warn } = this.options;
    const record = { ...this.self, heartbeat: this.#heartbeat, isReleased };
    for (const { directory, generation } of this.held) {
      try {
        if (await beatLock(directory, generation, record, files)) continue;
        warn(`Another process took over "${directory}" while this one stood still`);
        this.#lost.abort();
      } catch (error) {
        warn(`The lock of "${directory}" could not be renewed: ${messageOf(error)}`);
      }
    }
  }
}

/**
 * Takes directories for this process, all or none, and renews that every 10 s. A holder on this host is dead when
 * its process is; one elsewhere when it was silent for 30 s by the file system's clock.
 * @param directories Each at most once; usually the instance's and its key's.
 * @throws {OtelaError} `instance_locked` naming the holder, or `state_unusable`.
 */
export async function acquireInstanceLock(
  directories: readonly string[],
  options: InstanceLockOptions = {},
): Promise<InstanceLock> {
  const { files = disk, processes = systemProcesses, warn = () => {} } = options;
  const self = { ...await processes.self(), token: crypto.randomUUID() };
  const held: Held[] = [];
  try {
    for (const directory of new Set(directories)) {
      const generation = await lockDirectory(directory, {
        files,
        processes,
        self,
        token: self.token,
        staleAfterMs,
      });
      if (generation !== undefined) held.push({ directory, generation });
      else warn(`The file system of "${directory}" cannot lock: let only one node use it`);
    }
  } catch (error) {
    const record = { ...self, heartbeat: 0, isReleased: true };
    for (const { directory, generation } of held) {
      // What cannot be given back is free as soon as this process ends.
      await beatLock(directory, generation, record, files).catch(() => {});
    }
    throw error;
  }
  return new InstanceLock(held, self, {
    files,
    warn,
    heartbeatEveryMs: options.heartbeatEveryMs ?? heartbeatEveryMs,
  });
}
