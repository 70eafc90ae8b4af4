// Which process holds a head and nothing else, and tells what is on its heap? One question a line in, one answer out.
import { writeHeapSnapshot } from "node:v8";
import { startNode } from "../../mod.ts";
import { heapAfterGc } from "./heap.ts";
import type { HeapHeadReady, HeapQuestion } from "./heap_child.ts";
import { readLines } from "./lines.ts";
import { localOptions } from "./local_nodes.ts";

const head = await startNode({ ...localOptions, role: "head" });
const ready: HeapHeadReady = { url: head.http, multiaddrs: head.multiaddrs() };
console.log(JSON.stringify(ready));
for await (const line of readLines(Deno.stdin.readable)) {
  const { snapshotFile }: HeapQuestion = JSON.parse(line);
  const figures = await heapAfterGc();
  if (snapshotFile !== undefined) writeHeapSnapshot(snapshotFile);
  console.log(JSON.stringify(figures));
}
await head.stop({ drainMs: 0 });
Deno.exit();
