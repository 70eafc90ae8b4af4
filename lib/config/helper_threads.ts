// Which threads help a node, and how does it speak with them wherever they were started?

/** What a helper thread is for; each has its module in `lib/platform/helper_threads.ts`. */
export const helperKinds = ["claim loader", "automerge compiler"] as const;

/** One of {@link helperKinds}. */
export type HelperKind = typeof helperKinds[number];

/** What a helper tells who started it. Nothing comes after it was ended. */
export type HelperListener = {
  /** Each message of the thread, in order; whatever its module says. */
  readonly said: (data: unknown) => void;
  /** It broke down, or could not begin; nothing more comes from it. */
  readonly failed: (message: string) => void;
};

/** A thread without permissions that works for a node. */
export type HelperThread = {
  /** Structured-clonable; what is posted before the thread listens arrives once it does. */
  post(data: unknown): void;
  /** Ends it at once, whatever it does. Idempotent. */
  end(): void;
};

/** Starts helper threads (port; in the own process `lib/platform/helper_threads.ts`, through the launcher `helper_line.ts`). */
export interface HelperThreads {
  start(kind: HelperKind, listener: HelperListener): HelperThread;
}

/** What a node thread asks of the launcher on behalf of its helpers; `id` is the node's own count. */
export type HelperRequest =
  | { readonly type: "helper.start"; readonly id: number; readonly kind: HelperKind }
  | { readonly type: "helper.post"; readonly id: number; readonly data: unknown }
  | { readonly type: "helper.end"; readonly id: number };

/** What the launcher tells of them. */
export type HelperReport =
  | { readonly type: "helper.said"; readonly id: number; readonly data: unknown }
  | { readonly type: "helper.failed"; readonly id: number; readonly message: string };

/** Whether a message from a node thread is about helpers. */
export function isHelperRequest(message: { readonly type: string }): message is HelperRequest {
  return message.type.startsWith("helper.");
}

/** Whether a message to a node thread is about helpers. */
export function isHelperReport(message: { readonly type: string }): message is HelperReport {
  return message.type.startsWith("helper.");
}
