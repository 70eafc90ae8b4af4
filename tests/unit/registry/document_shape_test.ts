import { doesNotThrow, ok, throws } from "node:assert/strict";
import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { OtelaError } from "../../../lib/base/errors.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { checkDocumentShape } from "../../../lib/registry/document_shape.ts";
import { OwnDocument } from "../../../lib/registry/own_document.ts";
import { saveOfPackedNulls, saveOfPackedText } from "../../support/hostile_saves.ts";
import { claimOf } from "../../support/registry_node.ts";

await startAutomerge();

function check(document: Uint8Array): void {
  checkDocumentShape(
    document,
    (bytes, bytesMax) => inflateRawSync(bytes, { maxOutputLength: bytesMax }),
  );
}

function largestHonestSave(): Uint8Array {
  const document = new OwnDocument(claimOf(), { host: "h", uptimeMs: 0 }, "ab".repeat(16));
  const [service] = claimOf().services;
  for (let at = 0; at < 12; at++) { // Twelve times all groups anew: nearly 5,000 operations.
    const identityGroups = Array.from({ length: 256 }, (_, group) => `model=m${at}-${group}`);
    document.write(claimOf({ services: [{ ...service, identityGroups }] }));
  }
  ok(document.history.operationCount > 2_500);
  return document.save();
}

Deno.test("checkDocumentShape: passes what owners write, up to their budget", () => {
  const small = new OwnDocument(claimOf(), { host: "h", uptimeMs: 0 }, "ab".repeat(16)).save();
  doesNotThrow(() => check(small));
  doesNotThrow(() => check(largestHonestSave()));
});

Deno.test("checkDocumentShape: refuses a million packed operations within a moment", () => {
  for (const save of [saveOfPackedText(), saveOfPackedNulls()]) {
    // The best of some looks: a busy machine holds up one or another.
    const tookMs = Array.from({ length: 5 }, () => {
      const startedAtMs = performance.now();
      throws(() => check(save), OtelaError);
      return performance.now() - startedAtMs;
    });
    ok(Math.min(...tookMs) < 50, `${tookMs}`);
  }
});

Deno.test("checkDocumentShape: takes any bytes without hanging", () => {
  const valid = largestHonestSave();
  const mutated = fc.tuple(fc.nat(valid.byteLength - 1), fc.uint8Array({ maxLength: 32 }))
    .map(([at, patch]) => {
      const bytes = valid.slice();
      bytes.set(patch.subarray(0, bytes.byteLength - at), at);
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 300 })), (bytes) => {
      try {
        check(bytes);
      } catch (error) {
        ok(error instanceof Error); // Ours, or what inflate says.
      }
    }),
    { numRuns: 300 },
  );
});
