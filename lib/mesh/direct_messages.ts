// How do bytes pass from one libp2p stream to the next without a DOM event for each?
import type { MessageStream, StreamMessageEvent } from "@libp2p/interface";

type OnMessage = (event: StreamMessageEvent) => void;

/**
 * Bytes pass three event targets from the socket to a lane, and each dispatch of a DOM event takes as long as what its
 * listener does with the bytes. Here those who listen to `message` are called one after the other, in their order.
 * Everything else, and listeners with options, goes the usual way. What a listener throws reaches who brought the
 * bytes, and does not end the process.
 * @param stream Nobody listens yet.
 */
export function dispatchDirectly(stream: MessageStream): void {
  const add = stream.addEventListener.bind(stream) as (...args: unknown[]) => void;
  const remove = stream.removeEventListener.bind(stream) as (...args: unknown[]) => void;
  const dispatch = stream.dispatchEvent.bind(stream);
  let listeners: readonly OnMessage[] = [];
  let isUsual = false;
  const members = {
    addEventListener(...args: unknown[]): void {
      add(...args); // Keeps the count, by which libp2p decides whether bytes must wait.
      const [type, listener, options] = args;
      if (type !== "message") return;
      if (options !== undefined || typeof listener !== "function") isUsual = true;
      else if (!listeners.includes(listener as OnMessage)) {
        listeners = [...listeners, listener as OnMessage];
      }
    },
    removeEventListener(...args: unknown[]): void {
      remove(...args);
      if (args[0] === "message") listeners = listeners.filter((listener) => listener !== args[1]);
    },
    dispatchEvent(event: Event): boolean {
      if (isUsual || event.type !== "message") return dispatch(event);
      for (const listener of listeners) listener(event as StreamMessageEvent);
      return true;
    },
  };
  Object.assign(stream, members);
}
