// How does a bench look into the heap of a head that is alone in its process?
import { sourceCommand } from "../../tests/support/node_process.ts";
import { Child } from "./child.ts";
import type { HeapFigures } from "./heap.ts";

export type HeapHeadReady = { readonly url: string; readonly multiaddrs: readonly string[] };
export type HeapQuestion = { readonly snapshotFile?: string };

const readyAfterMsMax = 30_000;
/** A snapshot takes a second for 20 MB. */
const answerAfterMsMax = 60_000;

export type HeapHead = HeapHeadReady & {
  /** @param snapshotFile Where what is on the heap then is written, besides. */
  heap(snapshotFile?: string): Promise<HeapFigures>;
};

/** Starts it from source, with the product's permissions and V8 flags. */
export async function startHeapHead(stack: AsyncDisposableStack): Promise<HeapHead> {
  const path = new URL("heap_head.ts", import.meta.url).pathname;
  const child = stack.use(new Child("head", [...sourceCommand().slice(0, -1), path]));
  const ready = await child.next<HeapHeadReady>(readyAfterMsMax);
  const heap = (snapshotFile?: string) => {
    const question: HeapQuestion = { snapshotFile };
    return child.ask<HeapFigures>(question, answerAfterMsMax);
  };
  return { ...ready, heap };
}
