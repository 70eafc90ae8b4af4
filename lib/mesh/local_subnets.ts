// Which subnets is this machine on?

/** In CIDR notation, one per address; empty where the system does not tell. Needs `--allow-sys=networkInterfaces`. */
export function localSubnets(): string[] {
  try {
    return Deno.networkInterfaces().flatMap(({ cidr }) => cidr ?? []);
  } catch {
    return [];
  }
}
