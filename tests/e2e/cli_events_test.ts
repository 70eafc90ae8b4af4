import { deepEqual, equal } from "node:assert/strict";
import { startEngine } from "../support/engine.ts";
import { startNode } from "../support/node_process.ts";

const deadlineMs = 20_000;
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];

type Line = Readonly<Record<string, unknown>>;

Deno.test("start --json prints after ready, a line each, what becomes of services and peers", async () => {
  const root = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  for (const name of ["first", "second"]) await Deno.mkdir(`${root}/${name}`);
  const engine = startEngine({ models: ["tiny"] });
  try {
    await using first = await startNode({
      home: `${root}/first`,
      args: [
        ...["--service.name", "llm", "--service.url", engine.url],
        ...["--service.health_interval", "50ms", ...onLoopback],
      ],
    });
    const event = (name: string, is: (line: Line) => boolean = () => true) =>
      first.program.stdout.waitFor((text) => {
        const line: Line = JSON.parse(text);
        return line.event === name && is(line) ? line : undefined;
      }, deadlineMs);

    equal((await event("service.ready")).service, "llm");
    const args = ["--bootstrap", first.multiaddrs[0], ...onLoopback];
    const second = await startNode({ home: `${root}/second`, args });
    const ofSecond = (status: string) => (line: Line) =>
      line.peer === second.peerId && line.status === status;
    const alive = await event("peer.changed", ofSecond("alive"));
    deepEqual(Object.keys(alive), ["event", "peer", "status", "reason", "before"]);
    await second.kill();
    await event("peer.changed", ofSecond("suspect"));
    await engine.stop();
    const withdrawn = await event("service.withdrawn");
    deepEqual(Object.keys(withdrawn), ["event", "service", "reason"]);
    equal(JSON.parse(first.program.stdout.text.split("\n")[0]).event, "ready");
  } finally {
    await engine.stop();
    await Deno.remove(root, { recursive: true });
  }
});
