// How does the node thread talk to the launcher, and what must it do before anything else?
import process from "node:process";
import { HelperLine } from "./helper_line.ts";
import { type HelperThreads, isHelperReport } from "./helper_threads.ts";
import type {
  MessageFromThread,
  MessageToThread,
  StartMessage,
  StopMessage,
} from "./thread_messages.ts";

/** The thread's end of its line to the launcher. */
export type ThreadPort = {
  /** Settles with the launcher's first message. */
  readonly start: Promise<StartMessage>;
  /** Settles when the launcher asks to stop; at most once. */
  readonly stop: Promise<StopMessage>;
  post(message: MessageFromThread): void;
  /** Threads that the launcher starts for this one. */
  readonly helpers: HelperThreads;
};

/** The part of a thread's global scope that is used. */
export type ThreadScope = Pick<MessagePort, "postMessage" | "addEventListener">;

/**
 * Opens the line. The entry of the thread calls this in its first turn and imports everything else
 * afterwards, with `await import(…)`, for two reasons:
 * messages that arrive before there is a listener are lost; and the thread has no permission to read the
 * environment, which some packages list while they load (weald, supports-color), so an empty one is put in
 * its place.
 * @param scope The thread's `self`.
 * @example
 * ```ts ignore
 * const port = openThreadPort(self);
 * const { runThread } = await import("./run_thread.ts");
 * await runThread(port);
 * ```
 */
export function openThreadPort(scope: ThreadScope): ThreadPort {
  process.env = {};
  const start = Promise.withResolvers<StartMessage>();
  const stop = Promise.withResolvers<StopMessage>();
  const post = (message: MessageFromThread) => scope.postMessage(message);
  const helpers = new HelperLine(post);
  scope.addEventListener("message", ({ data }: MessageEvent<MessageToThread>) => {
    if (isHelperReport(data)) helpers.reported(data);
    else if (data.type === "start") start.resolve(data);
    else stop.resolve(data);
  });
  post({ type: "awake" });
  return { start: start.promise, stop: stop.promise, post, helpers };
}
