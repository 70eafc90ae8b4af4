import { deepEqual, equal } from "node:assert/strict";
import { judgeProcess, parseProcessStat } from "../../../lib/identity/process_mark.ts";

const self = { host: "a", bootId: "b", pidNamespace: "n", pid: 1, startTicks: 100 };
const rest = `1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21`;

Deno.test("parseProcessStat finds state and start time behind any program name", () => {
  deepEqual(parseProcessStat(`7 (deno) S ${rest}\n`), { state: "S", startTicks: 4242 });
  deepEqual(parseProcessStat(`7 (a b) Z (c)) R ${rest}`), { state: "R", startTicks: 4242 });
  for (const text of ["", "7 (deno", "7 (deno) S", ")"]) equal(parseProcessStat(text), undefined);
});

Deno.test("judgeProcess tells a running process from an ended one, a zombie and a reused pid", () => {
  const mark = { ...self, pid: 7 };
  equal(judgeProcess(mark, self, { state: "S", startTicks: 100 }), "running");
  equal(judgeProcess(mark, self, undefined), "gone");
  equal(judgeProcess(mark, self, { state: "Z", startTicks: 100 }), "gone");
  equal(judgeProcess(mark, self, { state: "S", startTicks: 101 }), "gone");
});

Deno.test("judgeProcess says nothing of another host, boot or namespace, or when it knows too little", () => {
  const stat = { state: "S", startTicks: 100 };
  for (const part of [{ host: "x" }, { bootId: "x" }, { pidNamespace: "x" }, { startTicks: 0 }]) {
    equal(judgeProcess({ ...self, ...part }, self, stat), "unknown");
  }
  const blind = { ...self, bootId: "" };
  equal(judgeProcess(blind, blind, undefined), "unknown");
});
