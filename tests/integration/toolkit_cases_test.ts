// What the reference got wrong between nodes (weaknesses.md, part B). Each test has the number of the bug.
import { deepEqual, equal, ok } from "node:assert/strict";
import { secondMs } from "../../lib/base/units.ts";
import { eventually } from "../support/eventually.ts";
import { Pair, startLocal } from "../support/toolkit_mesh.ts";

const handler = () => new Response("x");

Deno.test("B30, B58: neither coming nor going of others changes what a node says of itself", async () => {
  await using pair = await Pair.start({ name: "sum", handler });
  const { worker, caller } = pair;
  const saidAt = (node: typeof caller) =>
    node.peers().find(({ id }) => id === worker.peerId)!.claim;
  await eventually(() => saidAt(caller).hardware.cpuCount > 0);
  const before = [worker, caller].map(saidAt);
  const ending = new AbortController();
  const seen: number[] = [];
  const watching = (async () => {
    for await (const { peer } of caller.watch({ signal: ending.signal })) {
      if (peer.id === worker.peerId) seen.push(peer.claim.services.length);
    }
  })();
  for (let round = 0; round < 2; round++) {
    await using passer = await startLocal({ role: "head", bootstrap: worker.multiaddrs() });
    await eventually(() => passer.peers().length === 3);
    await eventually(() => caller.peers().some(({ id }) => id === passer.peerId));
  }
  await eventually(() => caller.peers().length === 2);
  ending.abort();
  await watching;
  // The same objects: a node that says anything else, or the same again as news, would have replaced them.
  for (const [at, node] of [worker, caller].entries()) ok(saidAt(node) === before[at]);
  deepEqual([...new Set(seen)], [1]);
});

Deno.test("B56: a node that joins closes no connection of its own", async () => {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  await using head = await startLocal({ role: "head", log });
  await using worker = await startLocal({ bootstrap: head.multiaddrs(), log });
  await worker.offer({ name: "sum", handler });
  await eventually(() => head.peers().some(({ claim }) => claim.services.length === 1));
  equal(await (await head.fetch("service:sum/", { fallback: "all" })).text(), "x");
  const changes = lines.filter((line) => line.includes("peer.changed"));
  ok(changes.length >= 2, lines.join("\n"));
  deepEqual(changes.filter((line) => !line.includes("status=alive")), []);
});

Deno.test("B63: services that come and go at the same time are all seen by another node within 10 s", async () => {
  await using pair = await Pair.start({ name: "first", handler });
  const { worker, caller } = pair;
  const names = Array.from({ length: 8 }, (_, at) => `late-${at}`);
  const offers = await Promise.all(names.map((name) => worker.offer({ name, handler })));
  const namesAtCaller = () =>
    caller.peers().find(({ id }) => id === worker.peerId)!.claim.services.map(({ name }) => name)
      .sort();
  await eventually(() => namesAtCaller().join() === ["first", ...names].join(), 10 * secondMs);
  await Promise.all([
    ...offers.slice(0, 4).map((offer) => offer.withdraw()),
    ...["new-0", "new-1"].map((name) => worker.offer({ name, handler })),
  ]);
  const left = ["first", ...names.slice(4), "new-0", "new-1"];
  await eventually(() => namesAtCaller().join() === left.join(), 10 * secondMs);
});

Deno.test("B68, B69, B71: entries into the mesh are all heads and relays, each at its own port, also those that just went", async () => {
  const stateDir = await Deno.makeTempDir();
  try {
    await using head = await startLocal({ role: "head" });
    await using second = await startLocal({ role: "head", bootstrap: head.multiaddrs() });
    const relay = await startLocal({ role: "relay", stateDir, bootstrap: head.multiaddrs() });
    await using worker = await startLocal({ bootstrap: head.multiaddrs() });
    const entriesAt = async (node: typeof head): Promise<string[]> =>
      (await (await fetch(`${node.http}/v1/dnt/bootstraps`)).json()).bootstraps.sort();
    const all = [head, second, relay].flatMap((node) => node.multiaddrs()).sort();
    equal(new Set(all.map((address) => address.split("/")[4])).size, 3, "three ports");
    for (const node of [head, second]) {
      await eventually(async () => (await entriesAt(node)).join() === all.join());
    }
    // A worker lists itself besides: it is the node that was asked.
    await eventually(async () =>
      (await entriesAt(worker)).join() === [...all, ...worker.multiaddrs()].sort().join()
    );
    await relay.stop();
    await eventually(() =>
      head.peers().some(({ id, status }) => id === relay.peerId && status === "left")
    );
    deepEqual(await entriesAt(head), all);
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
});
