// What if the thread that reads documents cannot begin? It says so instead of `ready`.
const scope = globalThis as unknown as {
  onmessage: (() => void) | null;
  postMessage(message: unknown): void;
};

scope.onmessage = () => scope.postMessage({ type: "crashed", message: "no memory" });
