import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import { LoadBook } from "../../../lib/routing/load_book.ts";
import { blockBytes, blocksMax, blocksOf, PrefixIndex } from "../../../lib/routing/prefix_index.ts";
import { candidate, peer, selectorOf } from "./fixtures.ts";

const encoder = new TextEncoder();
const blocks = (text: string) => blocksOf(encoder.encode(text));
const four = [1, 2, 3, 4].map((n) => candidate(n));

Deno.test("blocksOf has equal blocks exactly as far as two bodies are equal", () => {
  fc.assert(
    fc.property(fc.nat(600), fc.nat(600), fc.nat(600), (shared, more, other) => {
      const first = blocks("s".repeat(shared) + "a".repeat(more));
      const second = blocks("s".repeat(shared) + "b".repeat(other));
      const common = Math.floor(shared / blockBytes);
      let same = 0;
      while (same < first.length && first[same] === second[same]) same++;
      equal(same, Math.min(common, first.length, second.length));
    }),
  );
  equal(blocksOf(new Uint8Array(10 * blockBytes * blocksMax)).length, blocksMax);
});

Deno.test("PrefixIndex finds the deepest block in common, and who has it, latest first", () => {
  const index = new PrefixIndex();
  const turn1 = "x".repeat(640);
  equal(index.match(blocks(turn1)).depth, 0);
  index.served(blocks(turn1), peer(1));
  const turn2 = turn1 + "y".repeat(300);
  deepEqual(index.match(blocks(turn2)), { depth: 10, holders: [peer(1)], isShared: false });
  index.served(blocks(turn2), peer(2));
  deepEqual(index.match(blocks(turn1)).holders, [peer(2), peer(1)]);
});

Deno.test("PrefixIndex knows what many requests share, and keeps its bound", () => {
  const index = new PrefixIndex(100);
  const system = "s".repeat(640);
  for (let n = 0; n < 5; n++) index.served(blocks(system + String(n).repeat(128)), peer(n));
  const match = index.match(blocks(system + "z".repeat(128)));
  deepEqual([match.depth, match.isShared], [10, true]);
  equal(index.match(blocks(system + "4".repeat(128))).isShared, false);
  for (let n = 0; n < 50; n++) index.served(blocks(`${n}`.padEnd(640, ".")), peer(n));
  equal(index.size, 100);
});

Deno.test("prefix keeps conversations with their worker and spreads their beginnings evenly", () => {
  const selector = selectorOf("prefix");
  const system = "You are a helpful assistant. ".repeat(40);
  const homes = new Map<number, PeerId>();
  const counts = new Map<PeerId, number>();
  let kept = 0;
  for (let turn = 1; turn <= 5; turn++) {
    for (let conversation = 0; conversation < 80; conversation++) {
      const said = `conversation ${conversation} says something. `.repeat(8 * turn);
      const chosen = selector.select(four, 0, blocks(system + said + "]}")).peer;
      if (homes.get(conversation) === chosen) kept++;
      homes.set(conversation, chosen);
      counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
    }
  }
  equal(kept >= 4 * 80 - 10, true, `${kept} turns stayed`);
  for (const count of counts.values()) equal(Math.abs(count - 100) <= 20, true, `${count} of 400`);
});

Deno.test("prefix passes over a holder that is overloaded", () => {
  const book = new LoadBook();
  const selector = selectorOf("prefix", { book });
  const prompt = blocks("a long prompt ".repeat(100));
  const holder = selector.select(four, 0, prompt);
  equal(selector.select(four, 0, prompt).peer, holder.peer);
  for (let n = 0; n < 20; n++) book.started(holder, 0);
  equal(selector.select(four, 0, prompt).peer !== holder.peer, true);
});

Deno.test("prefix without a prompt chooses as p2c does", () => {
  const selector = selectorOf("prefix");
  equal(four.includes(selector.select(four, 0)), true);
  equal(selector.select([four[2]], 0, blocks("x".repeat(640))).peer, peer(3));
});
