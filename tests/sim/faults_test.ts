import { deepEqual, equal, throws } from "node:assert/strict";
import { OtelaError } from "../../lib/base/errors.ts";
import { noFaults, parseFaults } from "../../lib/sim/faults.ts";
import { simulate } from "../../lib/sim/simulate.ts";

const mixes: readonly [faults: string, nodeCount: number][] = [
  ["churn=0.5", 150],
  ["wave,loss", 150],
  ["leave,dup,reorder", 150],
  ["partition", 100],
  ["oneway,loss", 100],
  ["crash=0.5", 150],
  ["pause=0.1,loss=0.1", 150],
  ["churn,wave,leave,crash,pause,loss,dup,reorder,skew", 150],
];

for (const [index, [mix, nodeCount]] of mixes.entries()) {
  Deno.test(`simulate keeps every promise under ${mix}`, () => {
    for (const seed of [index + 1, index + 101]) {
      deepEqual(
        simulate({ nodeCount, seed, faults: parseFaults(mix), actMs: 30_000 }).violations,
        [],
      );
    }
  });
}

Deno.test("simulate names seed and trace when a promise is broken", () => {
  // Nothing arrives any more: everybody calls everybody left, and the processes run.
  const { violations, falseRemovalCount } = simulate({
    nodeCount: 8,
    seed: 5,
    faults: parseFaults("loss=1"),
    actMs: 60_000,
  });
  equal(falseRemovalCount > 0, true);
  equal(/^seed 5: n000\d called n000\d left/.test(violations[0]), true, violations[0]);
  equal(violations[0].includes("is suspect/silent, was alive/connected"), true);
});

Deno.test("parseFaults reads names with and without numbers", () => {
  deepEqual(parseFaults(""), noFaults);
  deepEqual(parseFaults("churn, loss=0.05"), { ...noFaults, churn: 0.1, loss: 0.05 });
});

Deno.test("parseFaults refuses unknown names and numbers out of bounds", () => {
  for (const text of ["chrn", "loss=2", "loss=-1", "loss=x", "toString"]) {
    throws(
      () => parseFaults(text),
      (error) => error instanceof OtelaError && error.code === "usage_invalid",
    );
  }
});
