import { deepEqual, equal, ok } from "node:assert/strict";
import type { TableEntry } from "../../../lib/gateway/ports.ts";
import { claim, entry, fixture, peer, service, tableOf, viewOf } from "./fixture.ts";

const [a, b, c, d] = ["A", "B", "C", "D"].map(peer);

async function json(response: Response) {
  equal(response.status, 200);
  equal(response.headers.get("content-type"), "application/json");
  return await response.json();
}

function fourWorkers(statusOfC: "alive" | "left"): TableEntry[] {
  return [
    entry(
      a,
      claim(service("llm", "model=m2", "model=m1", "model=*", "all"), service("llm", "model=m1")),
    ),
    entry(b, claim(service("llm", "model=m2"), service("other", "model=hidden")), "suspect"),
    entry(c, claim(service("llm", "model=m3")), statusOfC),
    entry(d, claim()),
  ];
}

Deno.test("C036: models are the union of live workers, once each and in order", async () => {
  let view = viewOf(...fourWorkers("left"));
  const { ask } = fixture({ view: () => view });
  const list = await json(await ask("/v1/models"));
  equal(list.object, "list");
  deepEqual(list.data.map((model: { id: string }) => model.id), ["m1", "m2"]);
  deepEqual(list.data[1], {
    id: "m2",
    object: "model",
    created: 1_700_000_005,
    owned_by: "otela",
    otela: { peers: [a, b] },
  });
  equal(list.data[0].otela.peers.length, 1);
  view = viewOf(...fourWorkers("alive"));
  const later = await json(await ask("/v1/models"));
  deepEqual(later.data.map((model: { id: string }) => model.id), ["m1", "m2", "m3"]);
});

Deno.test("C036: an empty mesh has an empty list of models, not an error", async () => {
  deepEqual(await json(await fixture().ask("/v1/models")), { object: "list", data: [] });
});

Deno.test("C036: a model of a service that drains is not offered to new clients", async () => {
  const draining = { ...service("llm", "model=m1"), state: "draining" as const };
  const { ask } = fixture({ view: () => viewOf(entry(a, claim(draining))) });
  deepEqual((await json(await ask("/v1/models"))).data, []);
});

Deno.test("createInfoRoutes finds a model by an id with slashes, encoded or not", async () => {
  const { ask } = fixture({
    view: () => viewOf(entry(a, claim(service("llm", "model=org/demo-7b", "model=a+b %")))),
  });
  for (const path of ["org/demo-7b", "org%2Fdemo-7b", "org/demo-7b/"]) {
    equal((await json(await ask(`/v1/models/${path}`))).id, "org/demo-7b");
  }
  equal((await json(await ask(`/v1/models/${encodeURIComponent("a+b %")}`))).id, "a+b %");
  const missing = await ask("/v1/models/org/other");
  equal(missing.status, 404);
  equal((await missing.json()).error.code, "model_not_found");
  equal((await ask("/v1/models/%zz")).status, 404);
});

Deno.test("createInfoRoutes shows the table in the reference's shape, with every peer's status", async () => {
  const { ask } = fixture({
    table: () => tableOf(entry(a, claim(service("llm", "model=m1"))), entry(c, claim(), "left")),
  });
  const table = await json(await ask("/v1/dnt/table"));
  deepEqual(Object.keys(table), [`/${a}`, `/${c}`]);
  const row = table[`/${a}`];
  deepEqual([row.id, row.role, row.status, row.connected], [a, ["worker"], "alive", true]);
  deepEqual([row.since, row.last_seen], [1_700_000_001, 1_700_000_004]);
  deepEqual([row.public_address, row.public_port], ["10.1.2.3", "43905"]);
  deepEqual(row.hardware.gpus, [{ name: "NVIDIA H200", total_memory: 143_771, used_memory: 10 }]);
  equal(row.owner, "WaLLet1111");
  const [offered] = row.service;
  deepEqual([offered.name, offered.status, offered.identity_group], ["llm", "connected", [
    "model=m1",
  ]]);
  deepEqual(row.service_name_counts, { llm: 1 });
  const left = table[`/${c}`];
  deepEqual([left.status, left.reason, left.connected], ["left", "goodbye", false]);
});

Deno.test("createInfoRoutes keeps addresses, wallets and hardware to itself, when it is redacted", async () => {
  const { ask } = fixture({
    config: { isRedacted: true },
    table: () => tableOf(entry(a, claim(service("llm", "model=m1")))),
    mesh: () => ({
      connections: [{ peer: a, addresses: ["/ip4/10.1.2.3/tcp/43905"], isLimited: false }],
      bootstraps: ["/ip4/192.0.2.1/tcp/43905/p2p/x"],
    }),
  });
  for (const path of ["table", "peers", "peers_status", "stats"]) {
    const text = await (await ask(`/v1/dnt/${path}`)).text();
    ok(text.includes(a));
    for (const secret of ["10.1.2.3", "WaLLet", "H200", "1024", "143771", "north"]) {
      ok(!text.includes(secret), `${secret} in ${path}: ${text}`);
    }
  }
  // Addresses that are meant to be dialed by newcomers stay.
  deepEqual(await json(await ask("/v1/dnt/bootstraps")), {
    bootstraps: ["/ip4/192.0.2.1/tcp/43905/p2p/x"],
  });
});

Deno.test("createInfoRoutes counts connections and known peers in the reference's shapes", async () => {
  const self = peer("S");
  const { ask } = fixture({
    table: () => tableOf(entry(a, claim()), entry(c, claim(), "left"), entry(self, claim())),
    mesh: () => ({
      connections: [
        { peer: a, addresses: ["/ip4/10.1.2.3/tcp/1"], isLimited: false },
        { peer: d, addresses: ["/ip4/10.1.2.4/tcp/1/p2p-circuit"], isLimited: true },
      ],
      bootstraps: [],
    }),
  });
  deepEqual((await json(await ask("/v1/dnt/peers"))).peers[0], {
    ID: a,
    Addrs: ["/ip4/10.1.2.3/tcp/1"],
  });
  deepEqual((await json(await ask("/v1/dnt/peers_status"))).peers, [
    { id: self, connectedness: "NotConnected" },
    { id: a, connectedness: "Connected" },
    { id: c, connectedness: "NotConnected" },
    { id: d, connectedness: "Limited" },
  ]);
  const stats = await json(await ask("/v1/dnt/stats"));
  deepEqual([stats.connected_peers, stats.total_peers_known], [2, 4]);
  equal(stats.all_peer_details.length, 4);
});

Deno.test("createInfoRoutes builds a table at most once a second, unless it changed", async () => {
  let nowMs = 5_000, builds = 0;
  let table = tableOf(entry(a, claim()));
  const { ask } = fixture({
    table: () => table,
    clock: { nowMs: () => nowMs },
    // Read once for each table that is built.
    wallClock: () => (builds++, nowMs),
  });
  builds = 0;
  const buildsAfter = async (elapsedMs: number) => {
    nowMs += elapsedMs;
    await (await ask("/v1/dnt/table")).text();
    return builds;
  };
  equal(await buildsAfter(0), 1);
  equal(await buildsAfter(900), 1);
  equal(await buildsAfter(200), 2);
  table = tableOf();
  equal(await buildsAfter(0), 3);
});

Deno.test("createInfoRoutes passes the metrics on with their own content type", async () => {
  const response = await fixture().ask("/metrics");
  equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  equal(await response.text(), "otela_up 1\n");
});
