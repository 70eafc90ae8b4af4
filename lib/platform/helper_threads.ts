// How does this process start the threads that help a node?
import type { HelperKind, HelperListener, HelperThreads } from "../config/helper_threads.ts";

/** What a helper runs. */
const modules: Readonly<Record<HelperKind, () => URL>> = {
  "claim loader": () => new URL("../node/claim_loader_thread.ts", import.meta.url),
  "automerge compiler": () => new URL("../node/automerge_compiler_thread.ts", import.meta.url),
};

/** Helpers in threads of this one: without permissions, and what breaks in them stays in them. */
export const ownHelperThreads: HelperThreads = {
  start: (kind, listener) => startHelperThread(modules[kind](), kind, listener),
};

/** Starts one. @param module What it runs. */
export function startHelperThread(module: URL, name: string, listener: HelperListener) {
  const thread = new Worker(module, { type: "module", name, deno: { permissions: "none" } });
  let isOver = false;
  const end = () => {
    isOver = true;
    thread.terminate();
  };
  // What an ended thread had still to say is of no interest.
  thread.onmessage = ({ data }) => {
    if (!isOver) listener.said(data);
  };
  thread.onerror = (event) => {
    event.preventDefault(); // Else it would end this thread too.
    if (isOver) return;
    end();
    listener.failed(event.message);
  };
  return {
    post: (data: unknown) => {
      if (!isOver) thread.postMessage(data);
    },
    end,
  };
}
