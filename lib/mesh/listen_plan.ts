// Which sockets serve the addresses that a node was told to listen on?

/**
 * Without `0.0.0.0` where `::` has the same port: a socket on `::` serves both families, and the two cannot be
 * bound together. `DenoTcpListener` falls back to IPv4 where there is no IPv6.
 */
export function listenPlan(addresses: readonly string[]): string[] {
  const all = new Set(addresses);
  return [...all].filter((address) => {
    const port = /^\/ip4\/0\.0\.0\.0\/tcp\/(\d+)$/.exec(address)?.[1];
    return port === undefined || !all.has(`/ip6/::/tcp/${port}`);
  });
}
