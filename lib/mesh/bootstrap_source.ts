// Where can a node be told to find others?
import { multiaddr } from "@multiformats/multiaddr";
import { isTcpAddress } from "./tcp_address.ts";

/** One entry of the configuration, understood. */
export type BootstrapSource =
  | { readonly kind: "address"; readonly address: string }
  /** TXT records of `_dnsaddr.<host>`; only those of `peer` when it is given. */
  | { readonly kind: "dnsaddr"; readonly host: string; readonly peer: string | undefined }
  /** Answers `{"bootstraps":[…]}`. */
  | { readonly kind: "url"; readonly url: string }
  /** Holds `{"bootstraps":[…]}`; a head writes it. */
  | { readonly kind: "file"; readonly path: string }
  /** The DHT's record of heads; not configured, but asked like the others. */
  | { readonly kind: "dht" };

const hostShape = /^(?=.{1,253}$)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/**
 * One entry as a source.
 * @param text `/ip4/…`, `/dnsaddr/host`, `dnsaddr://host`, `http(s)://…`, `file:PATH`; spaces and quotes around it do
 * not matter.
 * @returns `undefined` when it is none of these.
 */
export function parseBootstrapSource(text: string): BootstrapSource | undefined {
  const entry = text.trim().replace(/^(["'])(.*)\1$/, "$2");
  if (/^https?:\/\//i.test(entry)) {
    return URL.canParse(entry) ? { kind: "url", url: new URL(entry).href } : undefined;
  }
  if (entry.startsWith("file:")) {
    const path = entry.slice("file:".length).replace(/^\/\/(?=\/)/, "");
    return path === "" ? undefined : { kind: "file", path };
  }
  const dnsaddr = /^(?:dnsaddr:\/\/|\/dnsaddr\/)([^/]+)(?:\/p2p\/([^/]+))?\/?$/i.exec(entry);
  if (dnsaddr) {
    const [, host, peer] = dnsaddr;
    return hostShape.test(host) ? { kind: "dnsaddr", host, peer } : undefined;
  }
  return isDialable(entry) ? { kind: "address", address: entry } : undefined;
}

/** Names a source in logs: the entry as a person wrote it, but without what a URL may hide in it. */
export function sourceName(source: BootstrapSource): string {
  if (source.kind === "dht") return "the DHT";
  if (source.kind === "address") return source.address;
  if (source.kind === "file") return `file:${source.path}`;
  if (source.kind === "dnsaddr") return `dnsaddr://${source.host}`;
  const { origin, pathname } = new URL(source.url);
  return origin + pathname;
}

/** Whether a text is a multiaddr that the transport can dial. */
export function isDialable(text: string): boolean {
  try {
    return isTcpAddress(multiaddr(text));
  } catch {
    return false;
  }
}
