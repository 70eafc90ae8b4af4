import { deepEqual, equal } from "node:assert/strict";
import { followSignals, type StopOrder, type StopSignal } from "../../../lib/launcher/signals.ts";

function follow(): { hear: (signal: StopSignal) => void; orders: StopOrder[]; end: () => void } {
  const orders: StopOrder[] = [];
  let hear: ((signal: StopSignal) => void) | undefined;
  const end = followSignals((listener) => {
    hear = listener;
    return () => void (hear = undefined);
  }, (order) => orders.push(order));
  return { hear: (signal) => hear?.(signal), orders, end };
}

Deno.test("followSignals makes of the first signal a stop, whichever it is", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const) {
    const { hear, orders } = follow();
    hear(signal);
    deepEqual(orders, [{ type: "stop", signal }]);
  }
});

Deno.test("followSignals makes of the second signal an exit with the code that shells expect", () => {
  const { hear, orders } = follow();
  hear("SIGTERM");
  hear("SIGINT");
  deepEqual(orders[1], { type: "exit", code: 130 });
});

Deno.test("followSignals hears nothing after it was told to end", () => {
  const { hear, orders, end } = follow();
  end();
  hear("SIGTERM");
  equal(orders.length, 0);
});
