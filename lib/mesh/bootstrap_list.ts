// Which nodes does a list of bootstrap addresses name?
import { isDialable } from "./bootstrap_source.ts";

/** One node to dial: who must answer, if that is known, and where. */
export type BootstrapTarget = {
  /** PeerId, or the address when that does not name one. */
  readonly key: string;
  readonly peer: string | undefined;
  readonly addresses: readonly string[];
};

/** Addresses read from one list; the rest is skipped (guess: 64 heads with 4 addresses). */
export const listedAddressesMax = 256;

export type BootstrapList = {
  readonly targets: BootstrapTarget[];
  /** What was skipped, cut to 80 characters each, the first eight. */
  readonly skipped: string[];
};

/** Groups addresses by the peer they name; what cannot be dialled is skipped. An address without a peer stands alone. */
export function groupBootstraps(addresses: readonly string[]): BootstrapList {
  const targets = new Map<string, { peer: string | undefined; addresses: string[] }>();
  const skipped: string[] = [];
  for (const address of addresses.slice(0, listedAddressesMax)) {
    if (!isDialable(address)) {
      if (skipped.length < 8) skipped.push(address.slice(0, 80));
      continue;
    }
    const peer = /\/p2p\/([^/]+)$/.exec(address)?.[1];
    const known = targets.get(peer ?? address);
    if (!known) targets.set(peer ?? address, { peer, addresses: [address] });
    else if (!known.addresses.includes(address)) known.addresses.push(address);
  }
  return { targets: [...targets].map(([key, target]) => ({ key, ...target })), skipped };
}

/**
 * Reads `{"bootstraps":[…]}`, as files and heads (the reference's too) give it.
 * @param text Untrusted; its length is the caller's to bound. Entries that are no text are skipped.
 * @throws {Error} When it is no such object.
 */
export function parseBootstrapList(text: string): string[] {
  const value: unknown = JSON.parse(text);
  const list = typeof value === "object" && value !== null && "bootstraps" in value
    ? value.bootstraps
    : undefined;
  if (!Array.isArray(list)) {
    throw new Error('Cannot read bootstraps as "bootstraps" must be a list');
  }
  return list.filter((entry): entry is string => typeof entry === "string")
    .map((entry) => entry.trim());
}
