// How does the launcher start the node thread, hear of its fate, and end it?
import { messageOf, OtelaError } from "../base/errors.ts";
import { type HelperThreads, isHelperRequest } from "../config/helper_threads.ts";
import type { Ms } from "../base/units.ts";
import { secondMs } from "../base/units.ts";
import type {
  EventMessage,
  MessageFromThread,
  MessageToThread,
  ReadyMessage,
  StartMessage,
} from "../config/thread_messages.ts";
import { Helpers } from "./helpers.ts";

/** After the drain deadline a node still says goodbye and writes its snapshot (guess, generous). */
const farewellMs: Ms = 3 * secondMs;

/** What to start, and who listens. */
export type NodeThreadOptions = {
  /** The module that the thread runs. */
  readonly entry: URL;
  /** Exactly what the thread may do. */
  readonly permissions: Deno.PermissionOptionsObject;
  readonly start: StartMessage;
  /** Starts the threads that the node asks for. */
  readonly helpers: HelperThreads;
  /** Told of each event of the node, in order. */
  readonly onEvent: (message: EventMessage) => void;
};

/** A node that runs in a thread of its own. */
export type NodeThread = {
  /** Settles when the node serves; rejects as `ended` does. */
  readonly ready: Promise<ReadyMessage>;
  /**
   * Settles when the node has `stopped` in good order or was terminated. Rejects with an `OtelaError`: with the node's own code
   * when it says why, `node_failed` when the thread died of a fault, `timed_out` when it did not stop.
   */
  readonly ended: Promise<"stopped" | "terminated">;
  /** Asks it to stop; running exchanges may go on for `deadlineMs`. Idempotent. */
  stop(reason: string, deadlineMs: Ms): void;
  /** Ends the thread at once, without a goodbye; `ended` rejects with `error` when there is one. */
  terminate(error?: OtelaError): void;
};

/** Starts the thread. It holds the listed permissions and no other from its first instruction on. */
export function startNodeThread(options: NodeThreadOptions): NodeThread {
  const worker = new Worker(options.entry, {
    type: "module",
    name: "node",
    deno: { permissions: options.permissions },
  });
  const ready = Promise.withResolvers<ReadyMessage>();
  const ended = Promise.withResolvers<"stopped" | "terminated">();
  ready.promise.catch(() => {}); // Who waits for `ended` alone is told there.
  ended.promise.catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const unsent: MessageToThread[] = [options.start]; // What is sent before the thread listens is lost.
  let isAwake = false;

  const send = (message: MessageToThread) => {
    if (isAwake) worker.postMessage(message);
    else unsent.push(message);
  };
  const wake = () => {
    isAwake = true;
    unsent.splice(0).forEach(send);
  };
  const helpers = new Helpers(options.helpers, send);
  const settle = (end: "stopped" | "terminated" | OtelaError = "terminated") => {
    clearTimeout(timer);
    worker.terminate();
    helpers[Symbol.dispose]();
    const isFailure = end instanceof OtelaError;
    if (isFailure) ended.reject(end);
    else ended.resolve(end);
    const early = new OtelaError("node_stopping", "The node stopped before it was ready");
    ready.reject(isFailure ? end : early);
  };
  worker.onmessage = ({ data }: MessageEvent<MessageFromThread>) => {
    if (isHelperRequest(data)) helpers.asked(data);
    else if (data.type === "awake") wake();
    else if (data.type === "ready") ready.resolve(data);
    else if (data.type === "event") options.onEvent(data);
    else if (data.type === "stopped") settle("stopped");
    else settle(new OtelaError(data.code, data.message));
  };
  worker.onerror = (event) => {
    event.preventDefault(); // Else the fault of the thread would end this thread too, with another trace.
    settle(new OtelaError("node_failed", `The node broke down: ${messageOf(event.message)}`));
  };
  const stop = (reason: string, deadlineMs: Ms) => {
    if (timer !== undefined) return;
    send({ type: "stop", reason, deadlineMs });
    const limitMs = deadlineMs + farewellMs;
    const late = `Cannot stop the node in good order: it has said nothing for ${limitMs} ms`;
    timer = setTimeout(() => settle(new OtelaError("timed_out", late)), limitMs);
  };
  return { ready: ready.promise, ended: ended.promise, stop, terminate: settle };
}
