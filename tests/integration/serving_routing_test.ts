// Who serves a request that says how to choose?
import { deepEqual, equal } from "node:assert/strict";
import { askChat, type ChatAnswer } from "../support/ask_chat.ts";
import { eventually } from "../support/eventually.ts";
import type { NodeProcess } from "../support/node_process.ts";
import { startProcessMesh, untilServed } from "../support/process_mesh.ts";
import { tableAt } from "../support/table_at.ts";

Deno.test("a mesh chooses by tier, by allowed peers and by named peer", async (t) => {
  await using mesh = await startProcessMesh([
    { name: "one", models: ["shared", "own-1"] },
    { name: "two", models: ["shared", "own-2"] },
  ]);
  const [one, two] = mesh.workers.map(({ node }) => node);
  const group = (value: string) => ["--service.identity_group", value];
  const [{ node: wild }, { node: all }] = await Promise.all([
    mesh.startWorker("wild", { name: "wild", models: ["w"] }, group("model=*")),
    mesh.startWorker("all", { name: "all", models: ["a"] }, group("all")),
  ]);
  await untilServed(mesh.head, ["w", "a"], [wild, all]);
  const ask = (model: string, headers: Record<string, string> = {}): Promise<ChatAnswer> =>
    askChat(mesh.head.http, model, { headers });
  const fallback = (level: string) => ({ "x-otela-fallback": level });
  const allowed = (...peers: string[]) => ({ "x-otela-allowed-peers": peers.join(" , ") });

  await t.step(
    "X-Otela-Fallback opens wildcard and catch-all, each only when asked for",
    async () => {
      // Whoever is asked says itself that it has no such model: what counts is who was asked.
      const askedAt = async (level: string) => (await ask("unknown", fallback(level))).engine;
      for (const level of ["0", "7", "x"]) equal(await askedAt(level), "", level);
      equal(await askedAt("1"), "wild");
      equal(await askedAt("2"), "wild");
      deepEqual(await ask("own-1", fallback("2")).then(facts), [200, one.peerId]);
    },
  );

  await t.step("X-Otela-Allowed-Peers is an order of preference", async () => {
    for (const order of [[two, one], [one, two]]) {
      const header = allowed("12D3KooWNobody", ...order.map(({ peerId }) => peerId));
      for (let count = 0; count < 5; count++) {
        equal((await ask("shared", header)).worker, order[0].peerId);
      }
    }
    equal((await ask("own-1", allowed(two.peerId))).status, 503);
    equal((await ask("own-1", allowed(two.peerId))).code, "no_candidate");
    equal((await ask("own-1", allowed(" ", ""))).status, 200);
  });

  await t.step("X-Otela-Identity-Group stands for the body", async () => {
    const answer = await ask("whatever", { "x-otela-identity-group": "model=own-2" });
    equal(answer.worker, two.peerId);
  });

  await t.step("p2p paths reach one peer's service, and nothing else of it", async () => {
    for (const node of [one, two]) {
      for (const way of ["/v1/p2p/PEER/v1/_service/llm", "/v1/p2p-service/PEER/llm"]) {
        const path = `${way.replace("PEER", node.peerId)}/v1/chat/completions`;
        const answer = await askChat(mesh.head.http, "shared", { path });
        deepEqual(facts(answer), [200, node.peerId], path);
      }
    }
    const response = await fetch(`${mesh.head.http}/v1/p2p/${one.peerId}/v1/dnt/table`);
    equal(response.status, 404);
    await response.body?.cancel();
  });

  await t.step(
    "a worker's own door serves its service on loopback, its head has none",
    async () => {
      const path = "/v1/_service/llm/v1/chat/completions";
      deepEqual(await askChat(one.http, "shared", { path }).then(facts), [200, one.peerId]);
      const atHead = await askChat(mesh.head.http, "shared", { path });
      deepEqual([atHead.status, atHead.code], [503, "no_candidate"]);
    },
  );

  await t.step(
    "when the preferred peer dies the next in order serves",
    async () => {
      await loseAt(mesh.head, two);
      const answer = await ask("shared", allowed(two.peerId, one.peerId));
      deepEqual(facts(answer), [200, one.peerId]);
      await loseAt(mesh.head, wild);
      equal((await ask("unknown", fallback("2"))).engine, "all");
      equal((await ask("unknown", fallback("1"))).engine, "");
    },
  );
});

/** Kills a worker and waits until the head has noticed. */
async function loseAt(head: NodeProcess, worker: NodeProcess): Promise<void> {
  await worker.kill();
  await eventually(async () => (await tableAt(head))[`/${worker.peerId}`].status !== "alive");
}

function facts({ status, worker }: ChatAnswer): [number, string] {
  return [status, worker];
}
