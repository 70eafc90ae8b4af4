// Which subnets is this machine on?
import type { LocalSubnet } from "./dial_order.ts";

/** One entry per address of each interface; empty where the system does not tell. Needs `--allow-sys=networkInterfaces`. */
export function localSubnets(): LocalSubnet[] {
  try {
    return Deno.networkInterfaces().flatMap(({ address, cidr }) => {
      const prefix = Number(cidr?.split("/")[1]);
      return Number.isInteger(prefix) ? [{ address, prefix }] : [];
    });
  } catch {
    return [];
  }
}
