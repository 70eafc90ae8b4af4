// Who makes the load? A process of its own, so that its garbage and its turns are not those of what it measures:
// one job a line in, one result a line out.
import { runClosedLoop } from "./closed_loop.ts";
import { runEventStreams } from "./event_streams.ts";
import type { LoadAnswer, LoadJob } from "./job.ts";
import { Samples } from "./samples.ts";
import { readLines } from "../rig/lines.ts";

const first = new Samples();
const gaps = new Samples();

console.log(JSON.stringify({ ready: true }));
for await (const line of readLines(Deno.stdin.readable)) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}

async function answer(job: LoadJob): Promise<LoadAnswer<unknown>> {
  try {
    const result = job.kind === "closed_loop"
      ? await runClosedLoop(job, first)
      : await runEventStreams(job, first, gaps);
    return { result };
  } catch (error) {
    return { error: String(error) };
  }
}
