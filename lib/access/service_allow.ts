// Which peers may use a service of this node?
import { isPeerId, type PeerId } from "../base/peer_id.ts";
import { OtelaError } from "../base/errors.ts";

/** Peers that one list may name. */
export const serviceAllowMax = 10_000;

/** `network`: every admitted peer; else only these. An empty set lets nobody in. */
export type ServiceAllow = "network" | ReadonlySet<PeerId>;

/**
 * Reads `service.allow` of the configuration. Fails closed: what is not understood is refused, never "everybody".
 * @param value `network`, or PeerIds.
 * @throws {OtelaError} `config_invalid` naming the first bad entry.
 */
export function parseServiceAllow(value: string | readonly string[]): ServiceAllow {
  if (value === "network") return "network";
  const entries = typeof value === "string" ? [value] : value;
  if (entries.length === 1 && entries[0] === "network") return "network";
  if (entries.length > serviceAllowMax) {
    throw new OtelaError(
      "config_invalid",
      `Cannot use service.allow as it must have at most ${serviceAllowMax} peers: has ${entries.length}`,
    );
  }
  const peers = new Set<PeerId>();
  for (const entry of entries) {
    if (!isPeerId(entry)) {
      throw new OtelaError(
        "config_invalid",
        `Cannot use service.allow as it must be "network" or PeerIds: got "${entry.slice(0, 80)}"`,
      );
    }
    peers.add(entry);
  }
  return peers;
}

/**
 * Decides for one exchange.
 * @param peer Proven by the connection, never taken from a header.
 */
export function mayUseService(allow: ServiceAllow, peer: PeerId): boolean {
  return allow === "network" || allow.has(peer);
}
