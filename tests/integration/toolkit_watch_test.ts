// Does a program hear who is there, in whatever pace it listens?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type { PeerChange } from "../../mod.ts";
import { patienceMs, startLocal, untilOffered } from "../support/toolkit_mesh.ts";
import { within } from "../support/within.ts";

Deno.test("watch tells who is known, who comes, what changes and who goes", async () => {
  await using head = await startLocal({ role: "head" });
  const changes = head.watch();
  const next = async (): Promise<PeerChange> => {
    const { value } = await within(patienceMs, changes.next());
    return value!;
  };
  const first = await next();
  deepEqual([first.type, first.peer.id, first.peer.isSelf], ["seen", head.peerId, true]);

  const worker = await startLocal({ bootstrap: head.multiaddrs(), labels: { rack: "7" } });
  const upTo = async (isIt: (change: PeerChange) => boolean): Promise<PeerChange> => {
    for (;;) {
      const change = await next();
      if (change.peer.id === worker.peerId && isIt(change)) return change;
    }
  };
  const seen = await upTo(({ type }) => type === "seen");
  deepEqual([seen.peer.claim.role, { ...seen.peer.claim.labels }], ["worker", { rack: "7" }]);
  const offer = await worker.offer({ name: "echo", handler: () => new Response() });
  const offered = await upTo(({ peer }) => peer.claim.services.length === 1);
  deepEqual([offered.type, offered.peer.connection], ["changed", "direct"]);
  await offer.withdraw();
  await upTo(({ type, peer }) => type === "changed" && peer.claim.services.length === 0);
  await worker.stop();
  await upTo(({ type }) => type === "gone");
  deepEqual(head.peers().map(({ id }) => id), [head.peerId]);
  await changes.return();
});

Deno.test("watch tells a slow reader the last state, and nothing piles up", async () => {
  await using node = await startLocal();
  const changes = node.watch();
  await changes.next();
  for (let count = 0; count < 5; count++) {
    const offer = await node.offer({ name: "echo", handler: () => new Response() });
    await offer.ready();
    if (count < 4) await offer.withdraw();
  }
  await untilOffered(node, "echo", 1);
  const { value } = await within(patienceMs, changes.next());
  deepEqual(value?.peer.claim.services.map(({ name }) => name), ["echo"]);
  // There is no second change: the five services in between were never queued.
  const pending = changes.next();
  const stopped = node.stop();
  for (let { value } = await pending; value; value = (await changes.next()).value) {
    deepEqual(value.peer.claim.services, []); // The goodbye.
  }
  await stopped;
});

Deno.test("watch ends with its signal, and when the node stops; several do not disturb each other", async () => {
  await using node = await startLocal();
  const ending = new AbortController();
  const all = async (signal?: AbortSignal) => {
    let count = 0;
    for await (const _ of node.watch({ signal })) count++;
    return count;
  };
  const [signalled, stopped] = [all(ending.signal), all()];
  ending.abort();
  ok(await within(patienceMs, signalled) <= 1);
  await node.stop();
  ok(await within(patienceMs, stopped) >= 1);
});

Deno.test("ready waits for its service, and no longer than it can come", async () => {
  await using node = await startLocal();
  const source = { url: "http://127.0.0.1:1" }; // Nobody answers there.
  const offer = await node.offer({ name: "never", ...source });
  const reason = new Error("enough");
  await rejects(offer.ready({ signal: AbortSignal.abort(reason) }), reason);
  const waiting = offer.ready();
  await offer.withdraw();
  await rejects(waiting, { code: "no_such_service" });
  await offer.withdraw();
  const again = await node.offer({ name: "never", ...source });
  const waitingOn = again.ready();
  await Promise.all([rejects(waitingOn, { code: "node_stopping" }), node.stop()]);
});

Deno.test("offer refuses what is no service, and names what must change", async () => {
  await using node = await startLocal();
  const handler = () => new Response();
  await rejects(node.offer({ name: "a b", handler }), {
    code: "bad_request",
    message: /must be 1 to/,
  });
  const both = { name: "a", handler, url: "http://127.0.0.1:1" };
  await rejects(node.offer(both), { message: /needs exactly one of/ });
  await rejects(node.offer({ name: "a", socket: "relative" }), { message: /absolute path/ });
  await using _a = await node.offer({ name: "a", handler });
  await rejects(node.offer({ name: "a", handler }), { message: /its name must be new/ });
  equal(node.services().length, 1);
});
