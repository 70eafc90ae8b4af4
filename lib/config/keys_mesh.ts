// Which keys say how a node reaches the mesh?
import { type ConfigKey, key } from "./key.ts";

/** Listening, announcing, bootstrap, and who is kept out. */
export const meshKeys: readonly ConfigKey[] = [
  key("tcpport", "int", 43905, "reference", "Port of the mesh door; 0 takes any free one", {
    flag: true,
    max: 65_535,
  }),
  key("mesh.hosts", "list", ["0.0.0.0", "::"], "reference", "Addresses on which the mesh listens", {
    flag: true,
  }),
  key("public-addr", "string", null, "reference", "Address or host name by which others reach us", {
    flag: true,
    aliases: ["public_addr"],
    pattern: /^[A-Za-z0-9.:_-]{1,253}$/,
    mustBe: "an IP address or a host name",
  }),
  key("mesh.announce", "list", [], "guess", "Multiaddrs announced besides those found", {
    flag: true,
  }),
  key(
    "mesh.announce_filter",
    "list",
    ["127.0.0.0/8", "::1/128", "169.254.0.0/16", "fe80::/10", "172.17.0.0/16"],
    "guess: loopback, link-local, Docker's bridge",
    "Networks never announced while another address is left",
    { flag: true },
  ),
  key("mesh.connections_max", "int", null, "design §3", "Connections kept; by role when not set", {
    flag: true,
    min: 1,
    max: 1_000_000,
  }),
  key("peers.deny", "list", [], "protocol §1", "PeerIds and owner wallets that are kept out", {
    flag: true,
  }),
  key("bootstrap.addrs", "list", [], "reference", "First peers, or where to ask for them", {
    flag: "--bootstrap",
    aliases: ["bootstrap"],
  }),
  key("bootstrap.sources", "list", [], "reference", "More of the same, as the original calls it"),
  key("bootstrap.source", "list", [], "reference", "More of the same, as the original calls it", {
    flag: true,
  }),
  key("bootstrap.static", "list", [], "no public list unless asked for", "More of the same", {
    flag: true,
  }),
  key("bootstrap.addr", "list", [], "reference", "More of the same, in one text", { flag: true }),
  key(
    "bootstrap.write",
    "path",
    null,
    "guess",
    "A head writes its addresses to this file, for file:PATH",
    {
      flag: true,
    },
  ),
];
