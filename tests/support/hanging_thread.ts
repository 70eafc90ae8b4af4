// What if the thread that reads a document never answers, or dies? First byte 1: it hangs; 2: it dies; 3: it is slow.
const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data }) => {
  if (data.type === "start") return scope.postMessage({ type: "ready" });
  switch (data.document[0]) {
    case 1:
      for (;;);
    case 2:
      return scope.postMessage({ type: "crashed", message: "unreachable" });
    case 3:
      for (const endMs = performance.now() + 300; performance.now() < endMs;);
      return scope.postMessage({ type: "refused", message: "no claim" });
    default:
      return scope.postMessage({ type: "refused", message: "no claim" });
  }
};
