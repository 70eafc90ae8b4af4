// How much do the objects of this process take that are still in use?
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** MB (10⁶ bytes). `heap`: objects; `external`: buffers and WebAssembly; `rss`: what the system gave, all threads. */
export type HeapFigures = {
  readonly heapMb: number;
  readonly externalMb: number;
  readonly rssMb: number;
};

type Collect = (how: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** What finalizers let go of is gone after the second. */
const collections = 2;

let collect: Collect | undefined;

/** Collects first. Stops the process meanwhile: 20 ms for a node, 5 ms a MB for a large heap. */
export async function heapAfterGc(): Promise<HeapFigures> {
  collect ??= collector();
  for (let count = 0; count < collections; count++) {
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    await new Promise((resolve) => setTimeout(resolve, 0)); // Finalizers run in a turn of their own.
  }
  const { heapUsed, external, rss } = Deno.memoryUsage();
  return { heapMb: heapUsed / 1e6, externalMb: external / 1e6, rssMb: rss / 1e6 };
}

/** V8 gives it to contexts that are made after the flag was set, so no process must be started with it. */
function collector(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}
