// Does each exit code come out of the process as documented?
import { deepEqual, equal } from "node:assert/strict";
import { exitCodes } from "../../cli/exit_code.ts";
import { runOtela, startNode } from "../support/node_process.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];
const start = ["start", "--port", "0", "--tcpport", "0", ...onLoopback];

Deno.test("Every exit code is what scripts were told, with one line that says why", async () => {
  const home = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = String((taken.addr as Deno.NetAddr).port);
  const told = new Set<string>();
  const end = async (code: number, args: readonly string[]) => {
    const program = runOtela(args, { home });
    const line = `otela ${args.join(" ")}`;
    equal((await within(deadlineMs, program.ended)).code, code, `${line}: ${program.stderr.text}`);
    const lines = program.stderr.text.split("\n").filter((text) => text.startsWith("otela: "));
    equal(lines.length, code === 0 ? 0 : 1, `${line}: ${program.stderr.text}`);
    told.add(String(code));
  };
  try {
    await end(0, ["version"]);
    await end(0, ["help", "start"]);
    await end(0, ["config", "check"]);
    await end(1, ["peer-id"]);
    await end(2, ["strat"]);
    await end(2, ["start", "--tcport", "1"]);
    await end(2, ["config", "check", "--role", "boss"]);
    await end(2, ["start", "--subprocess", "vllm serve"]);
    await end(4, [...start, "--port", port]);
    await end(5, ["status"]);
    await end(5, ["stop"]);
    await using node = await startNode({ home, args: onLoopback });
    await end(3, start);
    await end(0, ["status"]);
    node.program.signal("SIGTERM");
    equal((await within(deadlineMs, node.program.ended)).code, 0);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
  // The code of a second signal is that of C071 in stop_test.ts.
  deepEqual(
    [...told].sort(),
    exitCodes.map(({ code }) => code).filter((code) => code.length === 1),
  );
});
