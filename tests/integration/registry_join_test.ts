import { equal, ok } from "node:assert/strict";
import { cpuUsage } from "node:process";
import { silentLog } from "../../lib/base/ports.ts";
import { ownHelperThreads } from "../../lib/platform/helper_threads.ts";
import { ClaimLoader } from "../../lib/node/claim_loader.ts";
import { startAutomerge } from "../../lib/registry/automerge.ts";
import type { LoadResult } from "../../lib/registry/peer_claims.ts";
import { byteStreamPair } from "../support/byte_stream_pair.ts";
import { RegistryDriver } from "../support/registry_driver.ts";
import { claimOf, RegistryNode } from "../support/registry_node.ts";
import { anyOrigin, workerEnvelopes } from "../support/worker_envelopes.ts";

const module = await startAutomerge();

/** A registry that knows `count` claims. */
function fullNode(count: number): RegistryNode {
  // Loads nothing: the node that joins does.
  const claim = claimOf();
  const load = (): LoadResult => ({ type: "loaded", loaded: { claim, origin: anyOrigin } });
  const node = new RegistryNode({ name: "full", load });
  for (const envelope of workerEnvelopes(count, "test")) node.receive(envelope, performance.now());
  return node;
}

async function until(isSo: () => boolean, deadlineMs: number): Promise<void> {
  const startedAtMs = performance.now();
  while (!isSo() && performance.now() - startedAtMs < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** One join. @returns Its cost. */
async function join(
  full: RegistryNode,
): Promise<{ tookMs: number; cpuMs: number; bytes: number; sliceMs: number }> {
  const joiner = new RegistryNode({ name: "joiner", startedAtMs: performance.now() });
  using loader = new ClaimLoader({ module, log: silentLog, helpers: ownHelperThreads });
  using ofFull = new RegistryDriver(full.registry, loader);
  using ofJoiner = new RegistryDriver(joiner.registry, loader);
  const streams = byteStreamPair();
  const startedAtMs = performance.now();
  const cpuBefore = cpuUsage();
  ofJoiner.connect(full.peerId, streams.a, true);
  ofFull.connect(joiner.peerId, streams.b, false);
  await until(() => joiner.registry.entries.size === full.registry.entries.size, 60_000);
  const tookMs = performance.now() - startedAtMs;
  const cpu = cpuUsage(cpuBefore);
  const cpuMs = (cpu.user + cpu.system) / 1_000;
  streams.cut(new Error("the test is over"));
  equal(joiner.registry.root, full.registry.root);
  return { tookMs, cpuMs, bytes: ofJoiner.receivedBytes, sliceMs: ofJoiner.sliceMsAt(0.9) };
}

Deno.test("SyncSession: a node joins a mesh of 1,000 claims within 2 s and 2 MB, in short slices", async () => {
  const full = fullNode(1_000);
  // About 0.8 s on two quiet cores; on a machine that does other things the best of three counts, or else what
  // both nodes and the loader took of its processors.
  let best = await join(full);
  for (let more = 2; more > 0 && (best.tookMs > 2_000 || best.sliceMs > 10); more--) {
    best = await join(full);
  }
  ok(Math.min(best.tookMs, best.cpuMs) <= 2_000, `${best.tookMs} ms, ${best.cpuMs} of a processor`);
  ok(best.bytes <= 2_000_000, `${best.bytes} bytes`);
  ok(best.sliceMs <= 10, `slices of ${best.sliceMs} ms`);
});
