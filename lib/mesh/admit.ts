// How does a node show that it knows the secret of its network?
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { PeerId } from "../base/peer_id.ts";

/**
 * What `peer` shows to be admitted: HMAC-SHA256(secret, "otela-admit-v1" ‖ network ‖ PeerId). It says nothing of
 * the secret and is of no use to another peer, as connections prove the PeerId.
 * @param secret Empty or `undefined` in an open network.
 * @returns 32 bytes; empty in an open network.
 */
export function admitTag(
  secret: string | undefined,
  network: string,
  peer: PeerId,
): Uint8Array<ArrayBuffer> {
  if (!secret) return new Uint8Array(0);
  const utf8 = new TextEncoder();
  const tag = hmac(sha256, utf8.encode(secret), utf8.encode(`otela-admit-v1${network}${peer}`));
  return new Uint8Array(tag);
}
