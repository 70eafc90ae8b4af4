// Does a connection end that does nothing for too long, and only then?
import { deepEqual, equal } from "node:assert/strict";
import { type ConnectionState, Quiet } from "../../../lib/server/quiet.ts";

const looksMax = 1_000;

/** How many looks it takes until it has lasted too long; `Infinity` when it never does. */
function looksUntilOver(
  quiet: Quiet,
  seen: (look: number) => [state: ConnectionState, moves: number],
): number {
  for (let look = 1; look <= looksMax; look++) if (quiet.look(...seen(look))) return look;
  return Infinity;
}

// Looks are 10 s apart, and the first one only begins to count.
const quietLooks: [state: ConnectionState, looks: number][] = [
  ["idle", 60],
  ["head", 3],
  ["running", Infinity],
  ["rest", 3],
  ["writing", 90],
  ["lingering", 1],
];
for (const [state, looks] of quietLooks) {
  Deno.test(`Quiet lets a connection be ${state} for ${looks} looks without a move`, () => {
    equal(looksUntilOver(new Quiet(), () => [state, 7]), looks + (state === "head" ? 1 : 2));
  });
}

Deno.test("Quiet counts from the last move", () => {
  const stopsAt = 200;
  for (const [state, looks] of [["idle", 60], ["rest", 3], ["writing", 90]] as const) {
    const over = looksUntilOver(new Quiet(), (look) => [state, Math.min(look, stopsAt)]);
    equal(over, stopsAt + looks + 1, state);
  }
});

Deno.test("Quiet counts anew when a connection comes to another state", () => {
  const quiet = new Quiet();
  const states: ConnectionState[] = ["head", "head", "head", "running", "head", "head", "head"];
  deepEqual(states.map((state) => quiet.look(state, 7)), states.map(() => false));
  equal(quiet.look("head", 7), true);
});

Deno.test("Quiet ends a head that comes byte by byte, and no other thing that moves", () => {
  const moving = (state: ConnectionState) => looksUntilOver(new Quiet(), (look) => [state, look]);
  equal(moving("head"), 4);
  for (const state of ["idle", "running", "writing"] as const) {
    equal(moving(state), Infinity, state);
  }
});

Deno.test("Quiet ends a connection that nobody answers any more, though its client sends on and on", () => {
  equal(looksUntilOver(new Quiet(), (look) => ["lingering", look]) < looksMax, true);
});
