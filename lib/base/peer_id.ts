// Which text names a peer?
import type { Brand } from "./brand.ts";
import { OtelaError } from "./errors.ts";

/**
 * Base58btc multihash of a libp2p public key: `12D3KooW…` (Ed25519) or `Qm…` (RSA).
 *
 * @example A list of friends
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { parsePeerId, type PeerId } from "@otela/otela";
 *
 * const friends: PeerId[] = [parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX")];
 * equal(friends.length, 1);
 * ```
 */
export type PeerId = Brand<string, "PeerId">;

const shape = /^(12D3KooW[1-9A-HJ-NP-Za-km-z]{44}|Qm[1-9A-HJ-NP-Za-km-z]{44})$/;

/**
 * Says whether a text has the form of a PeerId; whether a key hashes to it is checked where a key is at hand.
 * @param text Anything from outside.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { isPeerId } from "@otela/otela";
 *
 * equal(isPeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX"), true);
 * equal(isPeerId("localhost"), false);
 * ```
 */
export function isPeerId(text: string): text is PeerId {
  return shape.test(text);
}

/**
 * A text from outside as a PeerId.
 * @param text Untrusted; quoted in the error, cut to 80 characters.
 * @throws {OtelaError} `bad_peer_id` when the text has not the form of a PeerId.
 *
 * @example
 * ```ts
 * import { equal, throws } from "node:assert/strict";
 * import { parsePeerId } from "@otela/otela";
 *
 * const text = "12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX";
 * equal(parsePeerId(text), text);
 * throws(() => parsePeerId("localhost"), { code: "bad_peer_id" });
 * ```
 */
export function parsePeerId(text: string): PeerId {
  if (isPeerId(text)) return text;
  throw new OtelaError(
    "bad_peer_id",
    `Cannot read a PeerId as it must look like 12D3KooW… or Qm…: got "${text.slice(0, 80)}"`,
  );
}

/**
 * The last 8 characters, the part that differs between peers: for logs and tables.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { parsePeerId, shortPeerId } from "@otela/otela";
 *
 * equal(shortPeerId(parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX")), "tXPs9fgX");
 * ```
 */
export function shortPeerId(peer: PeerId): string {
  return peer.slice(-8);
}
