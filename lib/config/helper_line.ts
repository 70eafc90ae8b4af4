// How does a node thread use helper threads that the launcher starts for it?
//
// Deno 2.9.6 lets a thread that a thread has started wait for half a second before it runs (it polls for the
// inspector of the main thread, which never comes; 2.7.11 does not): the launcher starts them, from the main
// thread, and passes on what is said.
import type {
  HelperKind,
  HelperListener,
  HelperReport,
  HelperRequest,
  HelperThread,
  HelperThreads,
} from "./helper_threads.ts";

/** Helpers at the other end of the line to the launcher. */
export class HelperLine implements HelperThreads {
  readonly #post: (request: HelperRequest) => void;
  readonly #listeners = new Map<number, HelperListener>();
  #started = 0;

  /** @param post Says it to the launcher. */
  constructor(post: (request: HelperRequest) => void) {
    this.#post = post;
  }

  start(kind: HelperKind, listener: HelperListener): HelperThread {
    const id = ++this.#started;
    this.#listeners.set(id, listener);
    this.#post({ type: "helper.start", id, kind });
    return {
      post: (data) => {
        if (this.#listeners.has(id)) this.#post({ type: "helper.post", id, data });
      },
      end: () => {
        if (this.#listeners.delete(id)) this.#post({ type: "helper.end", id });
      },
    };
  }

  /** The launcher says something; of helpers that were ended it is too late. */
  reported(report: HelperReport): void {
    const listener = this.#listeners.get(report.id);
    if (report.type === "helper.said") return listener?.said(report.data);
    this.#listeners.delete(report.id);
    listener?.failed(report.message);
  }
}
