// How does the launcher run the threads that a node asks for?
import {
  helperKinds,
  type HelperReport,
  type HelperRequest,
  type HelperThread,
  type HelperThreads,
} from "../config/helper_threads.ts";

/** A node uses one of each kind, and for a moment a second one beside one that is being ended. */
const helpersMax = 2 * helperKinds.length;

/** Helpers of one node thread, which is trusted with no more than their kinds and their number. */
export class Helpers implements Disposable {
  readonly #threads: HelperThreads;
  readonly #tell: (report: HelperReport) => void;
  readonly #running = new Map<number, HelperThread>();

  constructor(threads: HelperThreads, tell: (report: HelperReport) => void) {
    this.#threads = threads;
    this.#tell = tell;
  }

  asked(request: HelperRequest): void {
    const { id } = request;
    if (request.type === "helper.post") return this.#running.get(id)?.post(request.data);
    if (request.type === "helper.end") return this.#end(id);
    const isKnown = helperKinds.includes(request.kind);
    if (!isKnown || this.#running.has(id) || this.#running.size >= helpersMax) {
      return this.#tell({
        type: "helper.failed",
        id,
        message: "the launcher starts no such thread",
      });
    }
    const thread = this.#threads.start(request.kind, {
      said: (data) => this.#tell({ type: "helper.said", id, data }),
      failed: (message) => {
        this.#running.delete(id);
        this.#tell({ type: "helper.failed", id, message });
      },
    });
    this.#running.set(id, thread);
  }

  /** Ends all. */
  [Symbol.dispose](): void {
    for (const id of [...this.#running.keys()]) this.#end(id);
  }

  #end(id: number): void {
    this.#running.get(id)?.end();
    this.#running.delete(id);
  }
}
