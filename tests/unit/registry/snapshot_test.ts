import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { OtelaError } from "../../../lib/base/errors.ts";
import { hourMs } from "../../../lib/base/units.ts";
import { concatBytes } from "../../../lib/base/concat_bytes.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { decodeSnapshot, encodeSnapshot, type Snapshot } from "../../../lib/registry/snapshot.ts";
import {
  claimOf,
  counted,
  published,
  RegistryNode,
  runNamed,
} from "../../support/registry_node.ts";

await startAutomerge();

function encoded(snapshot: Snapshot): Uint8Array {
  return concatBytes([...encodeSnapshot(snapshot)]);
}

/** A registry's snapshot as a file would give it back, so that it can be read more than once. */
function saved(node: RegistryNode, nowMs: number): Snapshot {
  return decodeSnapshot(encoded(node.registry.snapshot(nowMs)));
}

Deno.test("decodeSnapshot: gives back what was encoded", () => {
  const bytes = fc.uint8Array({ maxLength: 50 });
  const floor = fc.record({ envelope: bytes, keptS: fc.nat(86_400) });
  const snapshot = fc.record({ envelopes: fc.array(bytes), floors: fc.array(floor) });
  fc.assert(fc.property(snapshot, (chosen) => {
    deepEqual(decodeSnapshot(encoded(chosen)), chosen);
  }));
});

Deno.test("decodeSnapshot: refuses a file that was cut or changed anywhere", () => {
  const whole = encoded({
    envelopes: [Uint8Array.of(1, 2, 3)],
    floors: [{ envelope: Uint8Array.of(4), keptS: 9 }],
  });
  for (let at = 0; at < whole.byteLength; at++) {
    throws(() => decodeSnapshot(whole.slice(0, at)), OtelaError, `cut at ${at}`);
    const changed = whole.slice();
    changed[at] ^= 0x10;
    throws(() => decodeSnapshot(changed), OtelaError, `changed at ${at}`);
  }
});

Deno.test("encodeSnapshot: comes in parts that are no more than a moment's work", () => {
  const envelopes = Array.from({ length: 500 }, () => new Uint8Array(1_000));
  const sizes = [...encodeSnapshot({ envelopes, floors: [] })].map((part) => part.byteLength);
  ok(sizes.length > 10 && Math.max(...sizes) < 60_000, sizes.join());
});

Deno.test("decodeSnapshot: takes any bytes with no failure but its own", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      throws(() => decodeSnapshot(bytes), OtelaError);
    }),
    { numRuns: 500 },
  );
});

Deno.test("Registry: a restart finds the table again, with the leases and floors that remained", () => {
  const [a, x, y] = ["a", "x", "y"].map((name) => new RegistryNode({ name, leaseS: 3_600 }));
  const ofX = published(x.set(claimOf()))[0];
  a.receive(ofX, 0);
  a.tick(hourMs); // Only a floor remains of x.
  a.receive(published(y.set(claimOf()))[0], hourMs);
  const before = saved(a, hourMs + 600_000);
  const again = new RegistryNode({ name: "a", epoch: 2, run: runNamed("again") });
  again.did(again.registry.restored(before, 5_000), 5_000);
  again.workOff(5_000);
  equal(again.registry.entries.get(y.peerId)?.expiresAtMs, 5_000 + 3_000_000);
  deepEqual(counted(again.receive(ofX, 5_000)), ["floored"]);
});

Deno.test("Registry: restoring an old snapshot lowers neither a claim nor a floor", () => {
  const [a, x] = ["a", "x"].map((name) => new RegistryNode({ name, leaseS: 3_600 }));
  const [first, second] = [{ at: "1" }, { at: "2" }].map((labels) =>
    published(x.set(claimOf({ labels })))[0]
  );
  a.receive(first, 0);
  const withFirst = saved(a, 0);
  a.tick(hourMs);
  const withFloor = saved(a, hourMs);
  const restore = (snapshot: Snapshot, nowMs: number) => {
    a.did(a.registry.restored(snapshot, nowMs), nowMs);
    a.workOff(nowMs);
  };
  a.receive(second, hourMs);
  deepEqual(saved(a, hourMs).floors, [], "the claim itself is the floor");
  restore(withFirst, hourMs);
  deepEqual(a.registry.entries.get(x.peerId)?.claim.labels, { at: "2" });
  a.tick(2 * hourMs);
  restore(withFloor, 2 * hourMs);
  restore(withFirst, 2 * hourMs);
  equal(a.registry.entries.has(x.peerId), false);
  deepEqual(counted(a.receive(second, 2 * hourMs)), ["floored"]);
});
