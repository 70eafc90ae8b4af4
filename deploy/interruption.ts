// How does a program that started others learn that it must end them?
import type { Ms } from "../lib/base/units.ts";

/** A reason to end early that is no failure. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const parentPollMs: Ms = 500;

/** Aborts when the person or the system wants us to end. Dispose it to stop listening. */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #watch: ReturnType<typeof setInterval>;

  constructor() {
    for (const name of signals) Deno.addSignalListener(name, this.#abort);
    // A task runner that is killed does not tell us (denoland/deno#18445): we see that our parent has gone.
    const parent = Deno.ppid;
    this.#watch = setInterval(() => {
      if (Deno.ppid !== parent) this.#abort();
    }, parentPollMs);
    Deno.unrefTimer(this.#watch);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #abort = (): void => this.#controller.abort(new Interrupted("Interrupted"));

  [Symbol.dispose](): void {
    clearInterval(this.#watch);
    for (const name of signals) Deno.removeSignalListener(name, this.#abort);
  }
}
