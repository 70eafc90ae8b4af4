// Who makes the load? A process of its own, so that its garbage and its turns are not those of what it measures:
// one job a line in, one result a line out.
import { runBulk } from "./bulk.ts";
import { runClosedLoop } from "./closed_loop.ts";
import { runEventStreams } from "./event_streams.ts";
import type { LoadAnswer, LoadJob } from "./job.ts";
import { runPaced } from "./paced.ts";
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
    return { result: await run(job) };
  } catch (error) {
    return { error: String(error) };
  }
}

function run(job: LoadJob): Promise<unknown> {
  switch (job.kind) {
    case "closed_loop":
      return runClosedLoop(job, first);
    case "event_streams":
      return runEventStreams(job, first, gaps);
    case "bulk":
      return runBulk(job);
    case "paced":
      return runPaced(job, first);
  }
}
