import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import {
  AdmissionQueue,
  parsePriority,
  type Waiter,
} from "../../../lib/routing/admission_queue.ts";

type Named = Waiter & { readonly name: string };

function waiter(client: string, name = client, more: Partial<Waiter> = {}): Named {
  return { client, name, priority: 0, deadlineMs: 1_000, ...more };
}

function drain(queue: AdmissionQueue<Named>): string[] {
  const names: string[] = [];
  queue.release(({ name }) => names.push(name) > 0);
  return names;
}

Deno.test("AdmissionQueue lets clients take turns, each in its own order, greater priorities first", () => {
  const queue = new AdmissionQueue<Named>(100);
  for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.add(waiter(name[0], name));
  queue.add(waiter("d", "urgent", { priority: 5 }));
  queue.add(waiter("a", "idle", { priority: -1 }));
  deepEqual(drain(queue), ["urgent", "a1", "b1", "c1", "a2", "b2", "a3", "idle"]);
  equal(queue.size, 0);
});

Deno.test("AdmissionQueue stops at the first that cannot go, which keeps its place", () => {
  const queue = new AdmissionQueue<Named>(100);
  for (const name of ["a1", "b1", "a2"]) queue.add(waiter(name[0], name));
  let places = 1;
  queue.release(() => places-- > 0);
  equal(queue.size, 2);
  deepEqual(drain(queue), ["b1", "a2"]);
});

Deno.test("AdmissionQueue that is full lets a modest client displace a greedy one, never the other way", () => {
  const queue = new AdmissionQueue<Named>(3);
  for (const name of ["a1", "a2", "a3"]) equal(queue.add(waiter("a", name)).isTaken, true);
  equal(queue.add(waiter("a", "a4")).isTaken, false);
  const admission = queue.add(waiter("b"));
  deepEqual(admission.isTaken && admission.evicted?.name, "a3");
  equal(queue.add(waiter("b", "b2")).isTaken, false); // 2 and 1: no fairer than before.
  const urgent = queue.add(waiter("a", "urgent", { priority: 1 }));
  equal(urgent.isTaken && urgent.evicted?.name, "a2");
  equal(queue.add(waiter("c", "lazy", { priority: -1 })).isTaken, false);
  deepEqual(drain(queue), ["urgent", "a1", "b"]);
});

Deno.test("AdmissionQueue gives up who has waited too long or left", () => {
  const queue = new AdmissionQueue<Named>(10);
  const left = waiter("a", "left");
  queue.add(left);
  queue.add(waiter("a", "late", { deadlineMs: 5 }));
  queue.add(waiter("b", "patient"));
  queue.remove(left);
  queue.remove(left);
  deepEqual(queue.expire(5).map(({ name }) => name), ["late"]);
  deepEqual(drain(queue), ["patient"]);
});

Deno.test("AdmissionQueue loses nobody and never exceeds its bound", () => {
  const step = fc.record({ client: fc.nat(3), priority: fc.nat(2), releases: fc.nat(2) });
  fc.assert(fc.property(fc.array(step), fc.integer({ min: 1, max: 6 }), (steps, bound) => {
    const queue = new AdmissionQueue<Named>(bound);
    let taken = 0;
    let gone = 0;
    for (const { client, priority, releases } of steps) {
      const admission = queue.add(waiter(`c${client}`, "w", { priority }));
      if (admission.isTaken) taken++;
      if (admission.isTaken && admission.evicted) gone++;
      let left = releases;
      queue.release(() => left-- > 0 && ++gone > 0);
      equal(queue.size, taken - gone);
      equal(queue.size <= bound, true);
    }
  }));
});

Deno.test("parsePriority takes one digit and its sign", () => {
  deepEqual(["3", "-9", " 7 ", "10", "x", "", null, "1.5"].map(parsePriority), [
    3,
    -9,
    7,
    0,
    0,
    0,
    0,
    0,
  ]);
});
