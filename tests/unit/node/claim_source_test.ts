import { deepEqual } from "node:assert/strict";
import { ClaimSource } from "../../../lib/node/claim_source.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 5_000;

Deno.test("ClaimSource states a change that comes alone at once, and those behind it together", async () => {
  const order: string[] = [];
  const twice = Promise.withResolvers<void>();
  // Timers run in the order of their times, however busy the machine is.
  const mark = (name: string, afterMs: number) => setTimeout(() => order.push(name), afterMs);
  const marks: ReturnType<typeof setTimeout>[] = [];
  const source = new ClaimSource({
    role: "worker",
    labels: {},
    versions: {},
    addresses: () => [],
    services: () => [],
    state: () => {
      order.push("stated");
      if (order.filter((one) => one === "stated").length === 2) return twice.resolve();
      marks.push(mark("50 ms later", 50));
      for (let i = 0; i < 20; i++) source.changed();
    },
  }, { nowMs: () => performance.now() });
  marks.push(mark("40 ms after the change", 40));
  source.changed();
  source.changed();
  await within(deadlineMs, twice.promise);
  source.close();
  for (const timer of marks) clearTimeout(timer);
  deepEqual(order, ["stated", "40 ms after the change", "50 ms later", "stated"]);
});
