import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import {
  type Reachability,
  type ReachabilityEffect,
  type ReachabilityEvent,
  redialFirstMs,
  redialMaxMs,
  stepReachability,
  unknownReachability,
} from "../../../lib/membership/reachability.ts";

const half = () => 0.5;
const connected: ReachabilityEvent = { type: "connected" };
const lost: ReachabilityEvent = { type: "disconnected", remainingCount: 0 };
const refused: ReachabilityEvent = { type: "dialRefused" };
const failed: ReachabilityEvent = { type: "dialFailed" };
const goodbye: ReachabilityEvent = { type: "goodbye" };
const ticked: ReachabilityEvent = { type: "ticked" };

function claim(isNewRun: boolean, isWanted = false): ReachabilityEvent {
  return { type: "claimSeen", isNewRun, isWanted };
}

/** Runs events one second apart, the first at 1,000; returns the last state and effects. */
function run(...events: readonly ReachabilityEvent[]) {
  let state = unknownReachability(0);
  let effects: readonly ReachabilityEffect[] = [];
  for (const [index, event] of events.entries()) {
    ({ state, effects } = stepReachability(state, event, {
      nowMs: (index + 1) * 1_000,
      random: half,
    }));
  }
  return { state, effects, dials: effects.some(({ type }) => type === "redial") };
}

function words({ status, reason }: Reachability): string {
  return `${status} ${reason}`;
}

Deno.test("stepReachability gives every history its status, and dials when it should", () => {
  const rows: readonly (readonly [string, boolean, ...ReachabilityEvent[]])[] = [
    ["suspect claimed", false, claim(true)],
    ["suspect claimed", true, claim(true, true)],
    ["alive connected", false, connected],
    ["alive connected", false, connected, connected, { type: "disconnected", remainingCount: 1 }],
    ["suspect disconnected", true, connected, lost],
    ["suspect disconnected", false, connected, lost, claim(false, true)],
    ["alive connected", false, connected, lost, connected],
    ["left refused", false, connected, lost, refused],
    ["left refused", false, connected, lost, refused, failed],
    ["left refused", false, connected, lost, refused, claim(false, true)],
    ["suspect claimed", true, connected, lost, refused, claim(true)],
    ["alive connected", false, connected, lost, refused, connected],
    ["suspect unreachable", false, connected, lost, failed],
    ["suspect unreachable", false, claim(true), failed],
    ["left refused", false, claim(true), refused],
    ["alive connected", false, connected, refused],
    ["alive connected", false, connected, failed],
    ["left goodbye", false, connected, goodbye],
    ["left goodbye", false, connected, goodbye, lost],
    ["left goodbye", false, connected, goodbye, lost, refused],
    ["left goodbye", false, connected, goodbye, lost, failed],
    ["left goodbye", false, connected, goodbye, claim(false, true)],
    ["suspect claimed", true, connected, goodbye, claim(true)],
    ["alive connected", false, connected, goodbye, connected],
    ["left goodbye", false, goodbye, ticked],
  ];
  for (const [expected, dials, ...events] of rows) {
    const label = `${events.map(({ type }) => type)} → ${expected}`;
    const after = run(...events);
    equal(words(after.state), expected, label);
    equal(after.dials, dials, label);
  }
});

Deno.test("stepReachability redials at once, then with waits that grow from 3 s ± 1 to 60 s", () => {
  let state = run(connected, lost).state;
  const waits: number[] = [];
  let nowMs = 2_000;
  for (let n = 0; n < 7; n++) {
    const step = stepReachability(state, failed, { nowMs, random: half });
    deepEqual(step.effects, [{ type: "redialAt", atMs: step.state.redialAtMs }]);
    const atMs = step.state.redialAtMs ?? 0;
    waits.push(atMs - nowMs);
    const early = stepReachability(step.state, ticked, { nowMs: atMs - 1, random: half });
    deepEqual(early.effects, []);
    const due = stepReachability(step.state, ticked, { nowMs: atMs, random: half });
    equal(due.effects[0].type, "redial");
    state = due.state;
    nowMs = atMs;
  }
  deepEqual(waits, [3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
  const { state: refusedState } = stepReachability(state, connected, { nowMs, random: half });
  equal(refusedState.failedDialCount, 0);
});

Deno.test("stepReachability spreads the first wait over 2 to 4 s", () => {
  const lostState = run(connected, lost).state;
  for (const [chance, waitMs] of [[0, redialFirstMs * 2 / 3], [0.999999, redialFirstMs * 4 / 3]]) {
    const step = stepReachability(lostState, failed, { nowMs: 0, random: () => chance });
    ok(Math.abs((step.state.redialAtMs ?? 0) - waitMs) < 1, `${step.state.redialAtMs}`);
  }
});

Deno.test("stepReachability keeps since when, until status or reason change", () => {
  equal(run(connected, connected).state.sinceMs, 1_000);
  equal(run(connected, lost, failed, failed).state.sinceMs, 3_000);
});

Deno.test("stepReachability holds its rules in every history", () => {
  const event = fc.oneof(
    fc.constantFrom(connected, lost, refused, failed, goodbye, ticked),
    fc.record({ type: fc.constant("disconnected" as const), remainingCount: fc.nat(2) }),
    fc.tuple(fc.boolean(), fc.boolean()).map(([isNewRun, isWanted]) => claim(isNewRun, isWanted)),
  );
  const step = fc.tuple(event, fc.nat(70_000), fc.double({ min: 0, max: 0.99, noNaN: true }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let state = unknownReachability(0);
      let nowMs = 0;
      let wasConnected = false;
      for (const [event, passedMs, chance] of steps) {
        nowMs += passedMs;
        const next = stepReachability(state, event, { nowMs, random: () => chance });
        wasConnected ||= event.type === "connected";
        // Nobody is alive who was never connected; alive comes from connections alone.
        if (next.state.status === "alive") ok(wasConnected && next.state.reason === "connected");
        if (event.type === "connected") equal(next.state.status, "alive");
        // Goodbye ends with a connection or a later run, and asks for no dial.
        if (state.reason === "goodbye" && next.state.reason !== "goodbye") {
          ok(event.type === "connected" || (event.type === "claimSeen" && event.isNewRun));
        }
        if (next.state.reason === "goodbye") deepEqual(next.effects, []);
        // Who is neither alive nor said goodbye after a dial or a loss is always dialled again, in time.
        if (
          ["dialFailed", "dialRefused"].includes(event.type) && next.state.reason !== "connected"
        ) {
          if (next.state.reason !== "goodbye") {
            ok((next.state.redialAtMs ?? Infinity) <= nowMs + redialMaxMs);
          }
        }
        ok(next.state.sinceMs <= nowMs);
        state = next.state;
      }
    }),
  );
});
