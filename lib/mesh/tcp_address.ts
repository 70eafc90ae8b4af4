// Which TCP endpoint does a multiaddr name?
import { getNetConfig } from "@libp2p/utils";
import { type Multiaddr, multiaddr } from "@multiformats/multiaddr";
import { TCP } from "@multiformats/multiaddr-matcher";

export type TcpEndpoint = { readonly hostname: string; readonly port: number };

/** Whether the transport can dial or listen there: IPv4, IPv6 or a name, TCP, nothing on top of it. */
export function isTcpAddress(address: Multiaddr): boolean {
  return TCP.exactMatch(address);
}

/** @param address One that `isTcpAddress` accepts. */
export function tcpEndpoint(address: Multiaddr): TcpEndpoint {
  const { host, port } = getNetConfig(address);
  const zone = address.getComponents().find(({ name }) => name === "ip6zone")?.value;
  return { hostname: zone ? `${host}%${zone}` : host, port: port! };
}

/** Where an accepted socket came from; an IPv4 peer of a dual-stack listener is shown as IPv4. */
export function tcpMultiaddr({ hostname, port }: TcpEndpoint): Multiaddr {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(hostname);
  const [host, zone] = (mapped?.[1] ?? hostname).split("%");
  const family = host.includes(":") ? "ip6" : "ip4";
  return multiaddr(`${zone ? `/ip6zone/${zone}` : ""}/${family}/${host}/tcp/${port}`);
}
