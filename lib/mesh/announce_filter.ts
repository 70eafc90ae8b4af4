// Which of our addresses do we tell others?
import { type AddressKind, addressKind } from "./address_kind.ts";

/** Kinds that lead strangers nowhere, or to themselves. */
export const localKinds: readonly AddressKind[] = ["loopback", "link_local", "bridge"];

/**
 * The addresses worth telling: without loopback, link-local and bridge addresses, unless there is nothing else, as on
 * a mesh on one machine; then loopback, and only without that the rest.
 * @param addresses What the listeners are bound to.
 */
export function announceFilter(addresses: readonly string[]): string[] {
  const useful = addresses.filter((address) => !localKinds.includes(addressKind(address)));
  if (useful.length > 0) return useful;
  const loopback = addresses.filter((address) => addressKind(address) === "loopback");
  return loopback.length > 0 ? loopback : [...addresses];
}
