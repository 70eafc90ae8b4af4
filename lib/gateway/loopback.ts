// Does a caller sit on this machine?

/**
 * Says whether an address is a loopback address: 127.0.0.0/8, `::1`, or the first mapped into IPv6. The
 * empty address of a Unix socket is local too. Never an authority by itself where this node also proxies.
 */
export function isLoopback(address: string): boolean {
  return address === "" || address === "::1" || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address);
}

/** The host part of a connection's address; empty for a Unix socket. */
export function hostOf(address: Deno.Addr): string {
  return "hostname" in address ? address.hostname : "";
}
