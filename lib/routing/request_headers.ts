// What do a request's routing headers ask for?
import type { Tier } from "./types.ts";

/** Peers read from one header; more are ignored. The claims of a whole open mesh (protocol §1) fit. */
export const allowedPeersMax = 10_000;

/**
 * The level that `X-Otela-Fallback` asks for.
 * @param header Untrusted; `null` when there is none.
 * @returns 0 for everything but exactly `0`, `1` and `2`, as the reference does.
 */
export function parseFallbackLevel(header: string | null): Tier {
  return header === "1" ? 1 : header === "2" ? 2 : 0;
}

/**
 * The peers that `X-Otela-Allowed-Peers` names, most wanted first.
 * @param header Untrusted, separated by commas; blanks around and between them mean nothing.
 * @returns `null` when nothing is left: then there is no restriction.
 */
export function parseAllowedPeers(header: string | null): readonly string[] | null {
  if (header === null) return null;
  const peers: string[] = [];
  for (const part of header.split(",", allowedPeersMax)) {
    const peer = part.trim();
    if (peer !== "") peers.push(peer);
  }
  return peers.length === 0 ? null : peers;
}
