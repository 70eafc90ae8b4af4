import { deepEqual, match } from "node:assert/strict";
import { explainTiers } from "../../../lib/routing/explain.ts";
import { LoadBook } from "../../../lib/routing/load_book.ts";
import { Outliers } from "../../../lib/routing/outliers.ts";
import { candidate, peer } from "./fixtures.ts";

Deno.test("explainTiers tells who is asked, in which order, and why others are not", () => {
  const book = new LoadBook();
  const outliers = new Outliers();
  for (let count = 0; count < 3; count++) outliers.failed(candidate(3), 0);
  book.started(candidate(1), 0).headArrived(10);
  const tiers = [[candidate(1), candidate(2, { isSuspect: true }), candidate(3)], [candidate(4)]];
  const facts = explainTiers(tiers, {
    book,
    outliers,
    weightOf: () => 2,
    isFull: ({ peer: one }) => one === peer(4),
  }, 10);
  deepEqual(facts.map((one) => one.peer), [2, 1, 3, 4].map(peer));
  deepEqual(facts.map((one) => one.score), [0.5, 11, null, null]);
  deepEqual(facts.map((one) => one.tierIndex), [0, 0, 0, 1]);
  deepEqual([facts[1].load, facts[1].latencyMs, facts[1].why], [1, 10, "asked"]);
  match(facts[0].why, /may be gone/);
  match(facts[2].why, /out.*2 s/);
  match(facts[3].why, /full/);
});
