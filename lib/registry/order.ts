// Which of two envelopes of one owner is the newer?
import type { PeerId } from "../base/peer_id.ts";

/** What identifies one state of one owner's claim. */
export type EnvelopeHead = {
  readonly owner: PeerId;
  /** Raised at every start of the owner's process and whenever its document begins anew. */
  readonly epoch: number;
  /** Counts the owner's envelopes within an epoch, renewals included. */
  readonly seq: number;
  /** SHA-256 of the saved document, hexadecimal. */
  readonly hash: string;
};

/**
 * Orders by epoch, then seq, then the greater hash: total, so every receiver keeps the same one whatever
 * the order of arrival.
 * @returns Negative when `a` is older, zero when both are the same state.
 */
export function compareHeads(
  a: Omit<EnvelopeHead, "owner">,
  b: Omit<EnvelopeHead, "owner">,
): number {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  if (a.seq !== b.seq) return a.seq - b.seq;
  if (a.hash === b.hash) return 0;
  return a.hash < b.hash ? -1 : 1;
}
