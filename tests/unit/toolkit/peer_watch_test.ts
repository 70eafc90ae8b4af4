// Is a program told each difference once, and nothing else?
import { deepEqual, equal } from "node:assert/strict";
import { type PeerId, shortPeerId } from "../../../lib/base/peer_id.ts";
import type { MeshTable, TableEntry } from "../../../lib/gateway/ports.ts";
import type { Claim } from "../../../lib/registry/claim.ts";
import { type PeerChange, watchPeers } from "../../../lib/toolkit/peer_watch.ts";

/** A table that tests change. */
class FakeTable {
  private readonly entries = new Map<string, TableEntry>();
  private readonly listeners = new Set<() => void>();

  set(name: string, change: Partial<TableEntry> = {}): void {
    const peer = name as PeerId;
    const before = this.entries.get(name) ?? {
      peer,
      claim: { role: "worker", services: [] } as unknown as Claim,
      status: { status: "alive", reason: "connected", sinceMs: 0 },
      seenBy: [],
      connectedness: "connected",
      heardAtMs: 0,
    };
    this.entries.set(name, { ...before, ...change });
    for (const listener of this.listeners) listener();
  }

  remove(name: string): void {
    this.entries.delete(name);
    for (const listener of this.listeners) listener();
  }

  get listenerCount(): number {
    return this.listeners.size;
  }

  table(): MeshTable {
    return { self: "self" as PeerId, entries: [...this.entries.values()] };
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

function told({ value }: IteratorResult<PeerChange, void>): string {
  return value ? `${value.type} ${shortPeerId(value.peer.id)}` : "end";
}

Deno.test("watchPeers tells each difference once, and not what only looks new", async () => {
  const table = new FakeTable();
  table.set("a");
  table.set("b");
  const ending = new AbortController();
  const changes = watchPeers(table, [new AbortController().signal, ending.signal]);
  const next = async () => told(await changes.next());
  deepEqual([await next(), await next()], ["seen a", "seen b"]);

  table.set("a", { heardAtMs: 5 }); // A renewal: nobody needs to hear of it.
  table.set("b", { status: { status: "suspect", reason: "disconnected", sinceMs: 7 } });
  equal(await next(), "changed b");
  table.set("b", { connectedness: "not_connected" });
  equal(await next(), "changed b");
  table.set("a", { claim: { role: "head", services: [] } as unknown as Claim });
  equal(await next(), "changed a");
  table.remove("b");
  equal(await next(), "gone b");
  table.set("b");
  equal(await next(), "seen b");

  const last = next();
  ending.abort();
  deepEqual([await last, table.listenerCount], ["end", 0]);
});

Deno.test("watchPeers tells a reader who was away the sum of what happened", async () => {
  const table = new FakeTable();
  table.set("a");
  const changes = watchPeers(table, []);
  const next = async () => told(await changes.next());
  equal(await next(), "seen a");
  for (let count = 0; count < 1_000; count++) {
    table.set("b", { heardAtMs: count });
    table.set(`c${count}`);
    table.remove(`c${count}`);
  }
  table.remove("a");
  deepEqual([await next(), await next()], ["seen b", "gone a"]);
  await changes.return();
  equal(table.listenerCount, 0);
});
