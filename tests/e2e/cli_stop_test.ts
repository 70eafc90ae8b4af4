import { equal, match, ok } from "node:assert/strict";
import { runOtela } from "../support/node_process.ts";
import { whileStreaming } from "../support/streaming_node.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
/** A node that still waited for its drain would take longer. */
const reapedMs = 1_000;

Deno.test("C071: otela stop returns when the running answer is whole and the node has ended with 0", async () => {
  await whileStreaming(async ({ node, home, rest }) => {
    const stop = runOtela(["stop"], { home });
    equal((await within(deadlineMs, stop.ended)).code, 0);
    equal(stop.stdout.text, "stopped instance default");
    // It has ended; the news of it may reach us a moment after the end of the command.
    equal((await within(reapedMs, node.program.ended)).code, 0);
    match(await rest, /t59.*\[DONE\]\s*$/s);
    const again = runOtela(["leave"], { home });
    equal((await within(deadlineMs, again.ended)).code, 5);
  });
});

Deno.test("C071: drain.deadline cuts off what still runs, and the node ends with 0", async () => {
  await whileStreaming(async ({ node, rest }) => {
    node.program.signal("SIGTERM");
    equal((await within(deadlineMs, node.program.ended)).code, 0);
    ok(!(await rest).includes("[DONE]"));
  }, ["--drain.deadline", "100ms"]);
});
