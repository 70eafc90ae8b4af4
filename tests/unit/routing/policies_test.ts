import { deepEqual, equal, ok } from "node:assert/strict";
import { LoadBook } from "../../../lib/routing/load_book.ts";
import type { LbPolicy } from "../../../lib/routing/policies/types.ts";
import { RoundRobinSelector, turnsMax } from "../../../lib/routing/policies/round_robin.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";
import { candidate, selectorOf } from "./fixtures.ts";

const three = [candidate(1), candidate(2), candidate(3)];

function counts(policy: LbPolicy, book: LoadBook, draws: number): number[] {
  const selector = selectorOf(policy, { book, random: seededRandom(7) });
  const counted = three.map(() => 0);
  for (let n = 0; n < draws; n++) counted[three.indexOf(selector.select(three, 0))]++;
  return counted;
}

Deno.test("random and p2c spread evenly among equals, shortest-queue too", () => {
  for (const policy of ["random", "p2c", "shortest-queue"] as const) {
    for (const count of counts(policy, new LoadBook(), 6_000)) {
      ok(count > 1_800 && count < 2_200, `${policy}: ${count}`);
    }
  }
});

Deno.test("p2c never takes the busiest of three, and shortest-queue only the idlest", () => {
  const book = new LoadBook();
  book.started(three[0], 0);
  book.started(three[0], 0);
  book.started(three[1], 0);
  equal(counts("p2c", book, 300)[0], 0);
  deepEqual(counts("shortest-queue", book, 300), [0, 0, 300]);
});

Deno.test("p2c weighs load by latency where both are known, and by capacity where both say it", () => {
  const book = new LoadBook();
  const random = seededRandom(1);
  const pair = [candidate(1), candidate(2)];
  const selector = selectorOf("p2c", { book, random });
  for (const [seat, ms] of [[pair[0], 100], [pair[1], 10]] as const) {
    const ticket = book.started(seat, 0);
    ticket.headArrived(ms);
    ticket.finished();
  }
  book.started(pair[1], 100); // Busier and still faster.
  for (let n = 0; n < 20; n++) equal(selector.select(pair, 100), pair[1]);
  const large = [candidate(3, { capacity: 8 }), candidate(4, { capacity: 1 })];
  book.started(large[0], 0);
  for (let n = 0; n < 20; n++) equal(selector.select(large, 0), large[0]);
  const unsaid = [candidate(3, { capacity: 8 }), candidate(4)];
  for (let n = 0; n < 20; n++) equal(selector.select(unsaid, 0), unsaid[1]);
});

Deno.test("p2c keeps the deepest of 100 queues shallow", () => {
  const book = new LoadBook();
  const many = Array.from({ length: 100 }, (_, n) => candidate(n));
  const selector = selectorOf("p2c", { book, random: seededRandom(3) });
  for (let n = 0; n < 1_000; n++) book.started(selector.select(many, 0), 0);
  const deepest = Math.max(...many.map((seat) => book.inFlightCount(seat)));
  ok(deepest <= 13, `deepest ${deepest}`);
});

Deno.test("round-robin takes turns in the order of peers, for each service, while peers come and go", () => {
  const selector = new RoundRobinSelector();
  const turns = (candidates: typeof three, n: number) =>
    Array.from({ length: n }, () => candidates.indexOf(selector.select(candidates)));
  deepEqual(turns(three, 4), [0, 1, 2, 0]);
  const others = [candidate(1, { service: "x" }), candidate(2, { service: "x" })];
  deepEqual(turns(others, 3), [0, 1, 0]);
  equal(selector.select([three[0], three[2]]), three[2]);
  equal(selector.select(three), three[0]);
});

Deno.test("round-robin forgets the turn of the service that came first when there are too many", () => {
  const selector = new RoundRobinSelector();
  selector.select(three);
  for (let n = 0; n < turnsMax; n++) selector.select([candidate(1, { service: `s${n}` })]);
  equal(selector.select(three), three[0]);
});

Deno.test("weights decide how much each gets, by random and by p2c, and 0 gets nothing beside others", () => {
  const weightOf = ({ peer }: { peer: string }) =>
    peer === three[0].peer ? 0 : peer === three[1].peer ? 1 : 3;
  const random = selectorOf("random", { random: seededRandom(5), weightOf });
  const counted = three.map(() => 0);
  for (let n = 0; n < 4_000; n++) counted[three.indexOf(random.select(three, 0))]++;
  equal(counted[0], 0);
  ok(counted[2] > 2.6 * counted[1] && counted[2] < 3.4 * counted[1], counted.join());
  const book = new LoadBook();
  const p2c = selectorOf("p2c", { book, random: seededRandom(6), weightOf });
  for (let n = 0; n < 400; n++) book.started(p2c.select(three, 0), 0);
  const loads = three.map((seat) => book.inFlightCount(seat));
  equal(loads[0], 0);
  ok(loads[2] > 1.8 * loads[1], loads.join());
});
