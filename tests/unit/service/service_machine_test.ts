import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { unknownEngine } from "../../../lib/service/engine_detect.ts";
import {
  newService,
  type ServiceEffect,
  type ServiceEvent,
  type ServiceState,
  stepService,
} from "../../../lib/service/service_machine.ts";
import type { ServiceRules } from "../../../lib/service/service_rules.ts";

const rules: ServiceRules = {
  name: "llm",
  healthIntervalMs: 2_000,
  healthFailures: 3,
  modelRefreshMs: 2_000,
  identityGroups: ["all"],
  retry: "safe",
  capacity: 0,
  engine: { kind: null, continues: null },
};
const plainRules: ServiceRules = { ...rules, name: "echo", identityGroups: ["all"] };
const vllm = { kind: "vllm", version: "1", continues: true, slots: 0 };
const passed: ServiceEvent = { type: "checkPassed" };
const failed: ServiceEvent = { type: "checkFailed", reason: "refused" };
const ticked: ServiceEvent = { type: "ticked" };
const listed = (...models: string[]): ServiceEvent => ({ type: "modelsListed", models });
const unlisted: ServiceEvent = { type: "modelsFailed", reason: "500" };
const detected: ServiceEvent = { type: "engineDetected", engine: vllm, isComplete: true };

/** A service in virtual time: nothing waits. */
class Bench {
  nowMs = 0;
  state: ServiceState;
  effects: readonly ServiceEffect[] = [];

  constructor(readonly rules: ServiceRules) {
    this.state = newService(rules, 0);
  }

  /** @returns The types of the effects, without `schedule`. */
  on(event: ServiceEvent, afterMs = 0): string[] {
    this.nowMs += afterMs;
    const step = stepService(this.state, event, { nowMs: this.nowMs, rules: this.rules });
    this.state = step.state;
    this.effects = step.effects;
    return this.effects.map((effect) => effect.type).filter((type) => type !== "schedule");
  }

  /** Lets the time pass until the next thing is due. */
  next(): string[] {
    return this.on(ticked, Math.max(0, this.dueMs - this.nowMs));
  }

  get dueMs(): number {
    return Math.min(this.state.checkDueMs, this.state.listDueMs);
  }

  groups(): readonly string[] | undefined {
    return this.state.advertised?.identityGroups;
  }
}

function readyLlm(): Bench {
  const bench = new Bench(rules);
  bench.on(ticked);
  bench.on(passed);
  bench.on(listed("a"));
  deepEqual(bench.on(detected), ["advertise"]);
  return bench;
}

Deno.test("stepService advertises a service without models as soon as a check passes", () => {
  const bench = new Bench(plainRules);
  deepEqual(bench.on(ticked), ["check"]);
  deepEqual(bench.on(passed, 5), ["advertise"]);
  deepEqual(bench.groups(), ["all"]);
  equal(bench.dueMs, 2_000);
  deepEqual(bench.next(), ["check"]);
  deepEqual(bench.on(passed, 5), []);
});

Deno.test("stepService advertises an llm once its models and its kind are known", () => {
  const bench = new Bench(rules);
  bench.on(ticked);
  deepEqual(bench.on(passed), ["listModels"]);
  deepEqual(bench.on(listed("a", "b")), ["detectEngine"]);
  deepEqual(bench.on(detected), ["advertise"]);
  deepEqual(bench.groups(), ["all", "model=a", "model=b"]);
  equal(bench.state.advertised?.engine.kind, "vllm");
});

Deno.test("stepService asks a starting engine quickly at first, then at the interval, for ever", () => {
  const bench = new Bench(rules);
  bench.on(ticked);
  const pauses: number[] = [];
  for (let i = 0; i < 6; i++) {
    bench.on(failed);
    pauses.push(bench.dueMs - bench.nowMs);
    bench.next();
  }
  deepEqual(pauses, [250, 500, 1_000, 2_000, 2_000, 2_000]);
  for (let i = 0; i < 10_000; i++) { // A cold start of five hours and a half.
    bench.on(failed);
    deepEqual(bench.next(), ["check"]);
  }
  equal(bench.state.phase, "starting");
  deepEqual(bench.on(passed), ["listModels"]);
  bench.on(listed("a"));
  deepEqual(bench.on(detected), ["advertise"]);
});

Deno.test("B61: stepService withdraws after three failed checks in a row, not after two", () => {
  const bench = readyLlm();
  bench.next();
  deepEqual(bench.on(failed), []);
  bench.next();
  deepEqual(bench.on(failed), []);
  equal(bench.state.phase, "failing");
  deepEqual(bench.on({ type: "ticked" }, 2_000).includes("check"), true);
  bench.on(passed);
  equal(bench.state.phase, "ready");
  for (let i = 0; i < 3; i++) {
    bench.next();
    deepEqual(bench.on(failed), i === 2 ? ["withdraw"] : []);
  }
  equal(bench.state.phase, "withdrawn");
});

Deno.test("stepService checks by the clock: a slow failure does not delay the next check", () => {
  const bench = readyLlm();
  bench.next();
  bench.on(failed, 1_500);
  equal(bench.state.checkDueMs, bench.nowMs + 500);
  bench.next();
  bench.on(failed, 5_000);
  equal(bench.state.checkDueMs, Infinity); // Due in the past, so it began in the same step.
  ok(bench.effects.some((effect) => effect.type === "check"));
});

Deno.test("B61: stepService brings a recovered llm back with the groups that it has now", () => {
  const bench = readyLlm();
  for (let i = 0; i < 3; i++) {
    bench.on(ticked, 2_000);
    bench.on(failed);
  }
  bench.on(unlisted);
  deepEqual(bench.on(ticked, 2_000), ["check"]);
  deepEqual(bench.on(passed), ["listModels"]);
  deepEqual(bench.on(listed("b")), ["detectEngine", "advertise"]);
  deepEqual(bench.groups(), ["all", "model=b"]);
});

Deno.test("stepService re-reads models at once after a failed check, since engines restart", () => {
  const bench = readyLlm();
  bench.on(ticked, 2_000);
  bench.on(listed("a"));
  bench.on(failed);
  bench.on(ticked, 2_000);
  bench.on(listed("a"));
  deepEqual(bench.on(passed), ["listModels"]);
});

Deno.test("stepService re-advertises changed models, and says nothing when nothing changed", () => {
  const bench = readyLlm();
  bench.on(ticked, 2_000);
  deepEqual(bench.on(listed("a")), []);
  bench.on(ticked, 2_000);
  deepEqual(bench.on(listed("a", "b")), ["detectEngine", "advertise"]);
  deepEqual(bench.on(detected), []);
});

Deno.test("stepService keeps the last models for two failed lists, and withdraws at the third", () => {
  const bench = readyLlm();
  for (const expected of [[], [], ["withdraw"]]) {
    bench.on(ticked, 2_000);
    deepEqual(bench.on(unlisted), expected);
    bench.on(passed);
  }
  equal(bench.state.phase, "withdrawn");
  bench.on(ticked, 2_000);
  deepEqual(bench.on(listed("a")), ["detectEngine", "advertise"]);
});

Deno.test("B60: stepService waits for a check, when a list comes late from an engine that fails", () => {
  const bench = readyLlm();
  bench.on(ticked, 2_000); // Asks for both.
  for (let i = 0; i < 3; i++) {
    bench.on(failed);
    bench.on(ticked, 2_000);
  }
  equal(bench.state.phase, "withdrawn");
  deepEqual(bench.on(listed("a")), ["detectEngine"]);
  equal(bench.groups(), undefined);
});

Deno.test("stepService lets the configuration overrule what was detected", () => {
  const engine = { kind: "mine", continues: false };
  const bench = new Bench({ ...rules, capacity: 3, engine });
  bench.on(ticked);
  bench.on(passed);
  bench.on(listed("a"));
  bench.on({ type: "engineDetected", engine: { ...vllm, slots: 9 }, isComplete: true });
  deepEqual(bench.state.advertised?.engine, { kind: "mine", version: "1", continues: false });
  equal(bench.state.advertised?.capacity, 3);
});

Deno.test("stepService asks an engine for its kind again, when it stopped answering in between", () => {
  const bench = new Bench(rules);
  bench.on(ticked);
  bench.on(passed);
  bench.on(listed("a"));
  const unsure = { type: "engineDetected", engine: unknownEngine, isComplete: false } as const;
  deepEqual(bench.on(unsure), ["advertise"]);
  bench.on(ticked, 2_000);
  deepEqual(bench.on(listed("a")), ["detectEngine"]);
  deepEqual(bench.on(detected), ["advertise"]);
  bench.on(ticked, 2_000);
  deepEqual(bench.on(listed("a")), []);
});

Deno.test("stepService withdraws what is removed, and asks nothing more", () => {
  const bench = readyLlm();
  deepEqual(bench.on({ type: "removed" }), ["withdraw"]);
  deepEqual(bench.effects.map((effect) => effect.type), ["withdraw"]);
});

Deno.test("stepService is never stuck, asks one thing at a time, and says only what changed", () => {
  const answer = fc.constantFrom(
    "pass",
    "fail",
    "list a",
    "list b",
    "list none",
    "unlist",
    "detect",
  );
  const move = fc.record({ answer, afterMs: fc.nat({ max: 3_000 }) });
  fc.assert(fc.property(
    fc.array(move, { maxLength: 80 }),
    fc.integer({ min: 1, max: 4 }),
    (moves, healthFailures) => {
      const bench = new Bench({ ...rules, healthFailures });
      const running = new Set<string>();
      let said = "null";
      const step = (event: ServiceEvent, afterMs = 0) => {
        bench.on(event, afterMs);
        for (const effect of bench.effects) {
          if (effect.type === "check" || effect.type === "listModels") {
            ok(!running.has(effect.type), `${effect.type} runs already`);
            running.add(effect.type);
          }
          if (effect.type === "advertise" || effect.type === "withdraw") {
            const now = JSON.stringify(effect.type === "advertise" ? effect.claim : null);
            ok(now !== said, "said twice");
            said = now;
          }
        }
        const { state } = bench;
        equal(said, JSON.stringify(state.advertised));
        ok(state.advertised === null || state.phase === "ready" || state.phase === "failing");
        ok(state.checkFailures < healthFailures || state.advertised === null);
        ok(running.has("check") || state.checkDueMs < Infinity, "nobody will check again");
      };
      step(ticked);
      for (const { answer, afterMs } of moves) {
        const [verb, model] = answer.split(" ");
        if (verb === "pass" || verb === "fail") {
          if (running.delete("check")) step(verb === "pass" ? passed : failed, afterMs);
        } else if (verb === "list" || verb === "unlist") {
          const event = verb === "unlist" ? unlisted : listed(...(model === "none" ? [] : [model]));
          if (running.delete("listModels")) step(event, afterMs);
        } else step({ type: "engineDetected", engine: unknownEngine, isComplete: false }, afterMs);
        step(ticked);
      }
      // Act two: from anywhere, a healthy engine is claimed within two intervals.
      const until = bench.nowMs + 2 * rules.healthIntervalMs;
      while (bench.nowMs < until && bench.groups()?.at(-1) !== "model=z") {
        if (running.delete("check")) step(passed);
        else if (running.delete("listModels")) step(listed("z"));
        else step(ticked, Math.max(0, bench.dueMs - bench.nowMs));
        step(detected);
      }
      deepEqual(bench.groups(), ["all", "model=z"]);
    },
  ));
});
