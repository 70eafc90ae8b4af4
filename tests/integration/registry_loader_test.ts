import { deepEqual, equal, ok } from "node:assert/strict";
import { sha256 } from "@noble/hashes/sha2.js";
import { type Log, silentLog } from "../../lib/base/ports.ts";
import type { HelperThreads } from "../../lib/config/helper_threads.ts";
import { ClaimLoader } from "../../lib/node/claim_loader.ts";
import { SharedClaimLoader } from "../../lib/node/shared_claim_loader.ts";
import { ownHelperThreads, startHelperThread } from "../../lib/platform/helper_threads.ts";
import { startAutomerge } from "../../lib/registry/automerge.ts";
import { OwnDocument } from "../../lib/registry/own_document.ts";
import type { LoadResult } from "../../lib/registry/peer_claims.ts";
import { claimOf } from "../support/registry_node.ts";
import { seededRandom } from "../../lib/sim/seeded_random.ts";
import { saveOfPackedMaps, saveOfPackedNulls, saveOfPackedText } from "../support/hostile_saves.ts";

const module = await startAutomerge();
const helpers = ownHelperThreads;
const hangingThread = threadsOf("hanging_thread.ts");
const overrun: LoadResult = { type: "refused", reason: "overrun" };
const badClaim: LoadResult = { type: "refused", reason: "bad_claim" };

/** Helpers that run a module of the tests. */
function threadsOf(file: string): HelperThreads {
  const url = new URL(`../support/${file}`, import.meta.url);
  return { start: (kind, listener) => startHelperThread(url, kind, listener) };
}

/** Counts the threads that were started and not ended. */
function countingThreads(): HelperThreads & { started: number; running: number } {
  const counted = {
    started: 0,
    running: 0,
    start: (...args: Parameters<HelperThreads["start"]>) => {
      counted.started++;
      counted.running++;
      const thread = helpers.start(...args);
      return { post: thread.post, end: () => (counted.running--, thread.end()) };
    },
  };
  return counted;
}

function savedClaim(at = 0): Uint8Array {
  const claim = claimOf({ labels: { at: String(at) } });
  const document = new OwnDocument(claim, { host: "h", uptimeMs: 0 }, "cd".repeat(16));
  const saved = document.save();
  document.end();
  return saved;
}

Deno.test("ClaimLoader: reads documents and freezes what it read", async () => {
  using loader = new ClaimLoader({ module, log: silentLog, helpers });
  const results = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => loader.load(savedClaim(at))));
  for (const [at, result] of results.entries()) {
    ok(result.type === "loaded");
    deepEqual(result.loaded.claim, claimOf({ labels: { at: String(at) } }));
    ok(Object.isFrozen(result.loaded.claim.services[0].identityGroups));
  }
});

Deno.test("ClaimLoader: refuses what is no document and goes on", async () => {
  using loader = new ClaimLoader({ module, log: silentLog, helpers });
  deepEqual(await loader.load(Uint8Array.from([1, 2, 3])), badClaim);
  equal((await loader.load(savedClaim())).type, "loaded");
});

Deno.test("ClaimLoader: hostile saves take no time of this thread and no memory, and others are read", async () => {
  using loader = new ClaimLoader({ module, log: silentLog, helpers });
  const hostile = [saveOfPackedText(), saveOfPackedNulls()];
  for (const save of hostile) ok(save.byteLength < 8_192);
  equal((await loader.load(savedClaim())).type, "loaded");
  const memoryBefore = Deno.memoryUsage().rss;
  const startedAtMs = performance.now();
  for (let round = 0; round < 50; round++) {
    const results = await Promise.all([...hostile, savedClaim()].map((save) => loader.load(save)));
    deepEqual(results.map((result) => result.type), ["refused", "refused", "loaded"]);
  }
  // Unpacked, each of these hundred takes about a second and 60 MB.
  ok(performance.now() - startedAtMs < 5_000);
  ok(Deno.memoryUsage().rss - memoryBefore < 64 * 1_048_576);
  // Passes the look at its shape and takes about twice the deadline: refused either way.
  equal((await loader.load(saveOfPackedMaps())).type, "refused");
  equal((await loader.load(savedClaim())).type, "loaded");
});

/** Makes the checksum right, over chunk type, length and content. */
function resealed(bytes: Uint8Array): Uint8Array {
  bytes.set(sha256(bytes.subarray(8)).subarray(0, 4), 4);
  return bytes;
}

Deno.test("ClaimLoader: survives saves with changed bytes under a right checksum, and reads the next", async () => {
  deepEqual(resealed(savedClaim()), savedClaim());
  const random = seededRandom(20);
  using loader = new ClaimLoader({ module, log: silentLog, helpers });
  const saves = Array.from({ length: 300 }, (_, at) => {
    const bytes = savedClaim(at);
    for (let count = 1 + Math.floor(random() * 4); count > 0; count--) {
      bytes[11 + Math.floor(random() * (bytes.byteLength - 11))] = Math.floor(random() * 256);
    }
    return resealed(bytes);
  });
  const results = await Promise.all(saves.map((save) => loader.load(save)));
  ok(results.every((result) => result.type === "loaded" || result.reason !== "overloaded"));
  ok(results.filter((result) => result.type === "refused").length > 250);
  equal((await loader.load(savedClaim())).type, "loaded");
});

Deno.test("B52: ClaimLoader ends a thread that hangs or dies, refuses the guilty document, reads the others", async () => {
  using loader = new ClaimLoader({ module, log: silentLog, helpers: hangingThread });
  const documents = [0, 1, 0, 2, 0].map((first) => Uint8Array.of(first));
  const results = await Promise.all(documents.map((document) => loader.load(document)));
  deepEqual(results, [badClaim, overrun, badClaim, overrun, badClaim]);
});

Deno.test("ClaimLoader: a document that is only slow, as all are on a busy machine, is read nevertheless", async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (event) => warnings.push(event) };
  using loader = new ClaimLoader({ module, log, helpers: hangingThread });
  const documents = [0, 3, 0].map((first) => Uint8Array.of(first));
  const results = await Promise.all(documents.map((document) => loader.load(document)));
  deepEqual(results, documents.map(() => badClaim)); // That is what this thread says of whatever it has read.
  deepEqual(warnings, []);
});

Deno.test("ClaimLoader: a thread that cannot start is told once, not for each document", async () => {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (event) => errors.push(event) };
  using loader = new ClaimLoader({ module, log, helpers: threadsOf("dying_thread.ts") });
  const overloaded: LoadResult = { type: "refused", reason: "overloaded" };
  for (let at = 0; at < 5; at++) deepEqual(await loader.load(Uint8Array.of(at)), overloaded);
  deepEqual(errors, ["claim_loader.failed"]);
});

Deno.test("ClaimLoader: this thread goes on while a document hangs", async () => {
  using loader = new ClaimLoader({ module, log: silentLog, helpers: hangingThread });
  await loader.load(Uint8Array.of(0));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  try {
    deepEqual(await loader.load(Uint8Array.of(1)), overrun);
  } finally {
    clearInterval(timer);
  }
  ok(turns >= 5, `${turns} turns`); // It hung for a second in all, beside whatever else this machine does.
});

Deno.test("B53: ClaimLoader refuses as overloaded beyond its bound and after its end", async () => {
  const loader = new ClaimLoader({ module, log: silentLog, helpers });
  const large = new Uint8Array(16 * 1_024);
  const results = Array.from({ length: 2_100 }, () => loader.load(large));
  loader[Symbol.dispose]();
  const overloaded: LoadResult = { type: "refused", reason: "overloaded" };
  for (const result of results) deepEqual(await result, overloaded);
  deepEqual(await loader.load(large), overloaded);
});

Deno.test("SharedClaimLoader: many nodes have one thread, and one reading of what several of them get", async () => {
  const threads = countingThreads();
  const shared = new SharedClaimLoader();
  const holds = Array.from(
    { length: 8 },
    () => shared.hold({ module, log: silentLog, helpers: threads }),
  );
  const document = savedClaim();
  const results = await Promise.all(holds.map((hold) => hold.load(document)));
  equal(threads.started, 1);
  const [first] = results;
  ok(first.type === "loaded");
  for (const result of results) ok(result.type === "loaded" && result.loaded === first.loaded);
  const other = await holds[3].load(savedClaim(1));
  ok(other.type === "loaded" && other.loaded.claim.labels.at === "1");
  for (const hold of holds) hold[Symbol.dispose]();
  equal(threads.running, 0);
});

Deno.test("SharedClaimLoader: a node that ends takes nothing from the others, and hears no more", async () => {
  const threads = countingThreads();
  const shared = new SharedClaimLoader();
  const [one, two] = [1, 2].map(() => shared.hold({ module, log: silentLog, helpers: threads }));
  const late = one.load(savedClaim());
  const wanted = two.load(savedClaim());
  one[Symbol.dispose]();
  deepEqual(await late, { type: "refused", reason: "overloaded" });
  equal((await wanted).type, "loaded");
  two[Symbol.dispose]();
  equal(threads.running, 0);
  using again = shared.hold({ module, log: silentLog, helpers: threads });
  equal((await again.load(savedClaim())).type, "loaded");
});
