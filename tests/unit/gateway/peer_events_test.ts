import { deepEqual, equal } from "node:assert/strict";
import { eventStreamsMax } from "../../../lib/gateway/peer_events.ts";
import type { MeshTable, Readiness } from "../../../lib/gateway/ports.ts";
import { claim, entry, errorOf, fixture, peer, tableOf } from "./fixture.ts";

/** A door whose table a test changes. */
function watched(first: MeshTable) {
  const listeners = new Set<() => void>();
  let table = first;
  let readiness: Readiness = { isReady: true, mesh: "joined" };
  const { ask } = fixture({
    table: () => table,
    readiness: () => readiness,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  });
  const ring = () => listeners.forEach((listener) => listener());
  return {
    ask,
    listeners,
    become(next: MeshTable) {
      table = next;
      ring();
    },
    stop() {
      readiness = { isReady: false, reason: "the node is stopping", isStopping: true };
      ring();
    },
  };
}

/** Reads events one by one, as `type peer status/reason`. */
async function* eventsOf(response: Response): AsyncGenerator<string> {
  let rest = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
      const { id, status, reason } = JSON.parse(data);
      yield `${type} ${id === peer("A") ? "A" : "B"} ${status}/${reason}`;
    }
  }
}

const [a, b] = [claim(), claim()];

Deno.test("GET /v1/dnt/events tells who is there, then what changes, and ends when the node stops", async () => {
  const door = watched(tableOf(entry(peer("A"), a)));
  const response = await door.ask("/v1/dnt/events");
  equal(response.headers.get("content-type"), "text/event-stream");
  const events = eventsOf(response);
  const next = async () => (await events.next()).value;
  equal(await next(), "seen A alive/connected");
  door.become(tableOf(entry(peer("A"), a, "left"), entry(peer("B"), b)));
  equal(await next(), "changed A left/goodbye");
  equal(await next(), "seen B alive/connected");
  door.become(tableOf(entry(peer("B"), b)));
  equal(await next(), "gone A left/goodbye");
  door.stop();
  equal((await events.next()).done, true);
  equal(door.listeners.size, 0);
});

Deno.test("GET /v1/dnt/events gives a slow reader the sum of what happened", async () => {
  const door = watched(tableOf(entry(peer("A"), a)));
  const events = eventsOf(await door.ask("/v1/dnt/events"));
  await events.next();
  door.become(tableOf());
  door.become(tableOf(entry(peer("A"), a), entry(peer("B"), b)));
  door.become(tableOf(entry(peer("A"), a, "left")));
  deepEqual((await events.next()).value, "changed A left/goodbye");
  await events.return(undefined);
});

Deno.test("GET /v1/dnt/events opens nothing for HEAD, leaves nothing behind, and has a bound", async () => {
  const door = watched(tableOf(entry(peer("A"), a)));
  equal((await door.ask("/v1/dnt/events", { method: "HEAD" })).status, 200);
  equal(door.listeners.size, 0);
  const readers = [];
  for (let count = 0; count < eventStreamsMax; count++) {
    const reader = (await door.ask("/v1/dnt/events")).body!.getReader();
    await reader.read();
    readers.push(reader);
  }
  equal((await errorOf(await door.ask("/v1/dnt/events"))).code, "overloaded");
  for (const reader of readers) await reader.cancel();
  equal(door.listeners.size, 0);
  const again = await door.ask("/v1/dnt/events");
  equal(again.status, 200);
  await again.body!.cancel();
});
