// What if a helper thread says what it hears, and breaks when it is told to?
const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data }) => {
  if (data === "break") throw new Error("the helper has a fault");
  scope.postMessage(data);
};
