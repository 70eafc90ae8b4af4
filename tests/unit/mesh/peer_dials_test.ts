// Does a node learn from a dial that a peer's process is gone?
import { deepEqual } from "node:assert/strict";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { Dialer } from "../../../lib/mesh/dialer.ts";
import { meshCounters } from "../../../lib/mesh/mesh_counters.ts";
import { PeerDials } from "../../../lib/mesh/peer_dials.ts";

const peer = parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX");
const reset = () => new Deno.errors.ConnectionReset("reset");
const refused = () => new Deno.errors.ConnectionRefused("refused");

/** Redials a peer whose port answers so, one after the other. @returns What was told of it. */
async function redial(...answers: (() => Error)[]): Promise<boolean[]> {
  const told: boolean[] = [];
  const self = parsePeerId(`12D3KooW${"A".repeat(43)}B`);
  const dials = new PeerDials({
    self,
    dialer: new Dialer(() => Promise.reject(answers.shift()!()), () => []),
    settled: () => Promise.resolve(),
    isConnected: () => false,
    counters: meshCounters(),
    locate: () => Promise.resolve([]),
    failed: (_, isRefused) => void told.push(isRefused),
    closing: new AbortController().signal,
  });
  dials.remember(peer, ["/ip4/127.0.0.1/tcp/4001"]);
  await dials.redial(peer);
  return told;
}

Deno.test("PeerDials asks a second time when a dying process has taken the first call", async () => {
  deepEqual(await redial(reset, refused), [false, true]);
  deepEqual(await redial(reset, reset), [false, false]);
});

Deno.test("PeerDials takes a port that refuses at its word", async () => {
  deepEqual(await redial(refused), [true]);
});
