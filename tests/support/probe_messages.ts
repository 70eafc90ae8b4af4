// Which probe messages do tests try?
import fc from "fast-check";
import type { PeerId } from "../../lib/base/peer_id.ts";
import { counterLast } from "../../lib/membership/incarnation.ts";
import type { ProbeMessage } from "../../lib/membership/probe_message.ts";
import type { Rumour } from "../../lib/membership/rumour.ts";
import { peerNumbered } from "../../lib/sim/peer_names.ts";

const seq = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const epoch = fc.maxSafeNat();
const incarnation = fc.record({ epoch, counter: fc.integer({ min: 0, max: counterLast - 1 }) });
const peer: fc.Arbitrary<PeerId> = fc.integer({ min: 0, max: 5_000 }).map(peerNumbered);
const root = fc.uint8Array({ minLength: 8, maxLength: 8 })
  .map((bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
const signature = fc.uint8Array({ minLength: 64, maxLength: 64 });

/** Well-formed rumours of every kind. */
export const anyRumour: fc.Arbitrary<Rumour> = fc.oneof(
  fc.record({
    kind: fc.constant("failed" as const),
    subject: peer,
    incarnation,
    signer: fc.integer({ min: 5_001, max: 9_000 }).map(peerNumbered),
    signature,
  }),
  fc.tuple(peer, incarnation, signature).map(([subject, at, signature]) => ({
    kind: "alive" as const,
    subject,
    incarnation: at,
    signer: subject,
    signature,
  })),
  fc.tuple(peer, epoch, signature, fc.constantFrom("goodbye" as const, "drained" as const))
    .map(([subject, epoch, signature, kind]) => ({
      kind,
      subject,
      incarnation: { epoch, counter: counterLast },
      signer: subject,
      signature,
    })),
);

const rumours = fc.array(anyRumour, { maxLength: 3 });
const state = { seq, incarnation, root, departed: seq };

/** Well-formed messages of every type. */
export const anyProbeMessage: fc.Arbitrary<ProbeMessage> = fc.oneof(
  fc.record({ type: fc.constant("probe" as const), ...state, rumours }),
  fc.record({ type: fc.constant("probe" as const), ...state, rumours, accused: incarnation }),
  fc.record({ type: fc.constant("ack" as const), ...state, rumours }),
  fc.record({ type: fc.constant("ask" as const), seq, target: peer }),
  fc.record({ type: fc.constant("answer" as const), seq }),
  fc.record({ type: fc.constant("answer" as const), seq, incarnation }),
  fc.record({
    type: fc.constant("suspect" as const),
    target: peer,
    incarnation,
    silentMs: fc.integer({ min: 0, max: 60_000 }),
  }),
  fc.record({
    type: fc.constant("compare" as const),
    buckets: fc.array(seq, { minLength: 64, maxLength: 64 }),
  }),
  fc.record({ type: fc.constant("rumours" as const), rumours }),
);
