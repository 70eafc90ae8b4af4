// Which of our addresses do we tell others?
import { isInNetworks, networkList } from "./address_kind.ts";

/** Loopback, link-local, and Docker's bridge: they lead strangers nowhere, or to themselves. */
export const unannouncedNetworks: readonly string[] = [
  "127.0.0.0/8",
  "::1/128",
  "169.254.0.0/16",
  "fe80::/10",
  "172.17.0.0/16",
];

/**
 * The addresses worth telling: without those in `networks`, unless there is nothing else, as on a mesh on one machine.
 * @param addresses Multiaddrs that the listeners are bound to.
 * @param networks In CIDR notation.
 * @param hasOther Whether addresses that somebody configured are told as well: then there is something else.
 */
export function announceFilter(
  addresses: readonly string[],
  networks: readonly string[],
  hasOther = false,
): string[] {
  const list = networkList(networks);
  const useful = addresses.filter((address) => !isInNetworks(address, list));
  return useful.length > 0 || hasOther ? useful : [...addresses];
}
