// Which addresses does the configuration name for others?
import { isIPv4, isIPv6 } from "node:net";
import type { MeshConfig } from "../config/node_config.ts";

/**
 * `public-addr` as a multiaddr, then those that were given as such.
 * With a port that the system chooses the public one cannot be known: `announce` names it then.
 */
export function announcedAddresses(
  config: Pick<MeshConfig, "publicAddr" | "tcpPort" | "announce">,
): string[] {
  const { publicAddr, tcpPort, announce } = config;
  if (publicAddr === null || tcpPort === 0) return [...announce];
  // As the original reads it: a port behind it and brackets around it mean nothing.
  const host = publicAddr.trim().replace(/^([^:]+):\d+$/, "$1").replace(/^\[(.*)\](:\d+)?$/, "$1");
  return [`/${familyOf(host)}/${host}/tcp/${tcpPort}`, ...announce];
}

function familyOf(host: string): "ip4" | "ip6" | "dns" {
  if (isIPv4(host)) return "ip4";
  return isIPv6(host) ? "ip6" : "dns";
}
