// Are bootstrap entries and lists understood, and is nonsense skipped?
import { deepEqual, equal, throws } from "node:assert/strict";
import {
  groupBootstraps,
  listedAddressesMax,
  parseBootstrapList,
} from "../../../lib/mesh/bootstrap_list.ts";
import { parseBootstrapSource, sourceName } from "../../../lib/mesh/bootstrap_source.ts";

const id = "12D3KooWMJzrgzc56zUxZGVrny7FfiL4WQXTVpek3eodPqWWysAt";

Deno.test("parseBootstrapSource reads every form and nothing else", () => {
  const cases: readonly [string, ReturnType<typeof parseBootstrapSource>][] = [
    ["/ip4/1.2.3.4/tcp/5", { kind: "address", address: "/ip4/1.2.3.4/tcp/5" }],
    [` "/dns4/a.org/tcp/5/p2p/${id}" `, {
      kind: "address",
      address: `/dns4/a.org/tcp/5/p2p/${id}`,
    }],
    ["dnsaddr://Boot.example.org", { kind: "dnsaddr", host: "Boot.example.org", peer: undefined }],
    [`/dnsaddr/b.org/p2p/${id}`, { kind: "dnsaddr", host: "b.org", peer: id }],
    ["HTTPS://a.org/v1/x", { kind: "url", url: "https://a.org/v1/x" }],
    ["file:/tmp/heads.json", { kind: "file", path: "/tmp/heads.json" }],
    ["file:///tmp/heads.json", { kind: "file", path: "/tmp/heads.json" }],
    ["", undefined],
    ["file:", undefined],
    ["http://", undefined],
    ["dnsaddr://a b", undefined],
    ["/ip4/1.2.3.4/udp/5/quic-v1", undefined],
    ["/ip4/999.2.3.4/tcp/5", undefined],
    ["head.example.org:43905", undefined],
  ];
  for (const [text, expected] of cases) deepEqual(parseBootstrapSource(text), expected, text);
});

Deno.test("sourceName hides what a URL carries beside its path", () => {
  equal(sourceName({ kind: "url", url: "https://u:p@a.org/x?token=1" }), "https://a.org/x");
});

Deno.test("groupBootstraps groups by peer, keeps order, skips what cannot be dialled", () => {
  const { targets, skipped } = groupBootstraps([
    `/ip4/1.1.1.1/tcp/1/p2p/${id}`,
    "",
    "/ip4/2.2.2.2/tcp/2",
    `/ip4/3.3.3.3/tcp/3/p2p/${id}`,
    `/ip4/1.1.1.1/tcp/1/p2p/${id}`,
    "x".repeat(500),
  ]);
  deepEqual(targets, [
    {
      key: id,
      peer: id,
      addresses: [`/ip4/1.1.1.1/tcp/1/p2p/${id}`, `/ip4/3.3.3.3/tcp/3/p2p/${id}`],
    },
    { key: "/ip4/2.2.2.2/tcp/2", peer: undefined, addresses: ["/ip4/2.2.2.2/tcp/2"] },
  ]);
  deepEqual(skipped, ["", "x".repeat(80)]);
});

Deno.test("groupBootstraps reads a bounded number of addresses", () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `/ip4/1.2.3.4/tcp/${i + 1}`);
  equal(groupBootstraps(many).targets.length, listedAddressesMax);
});

Deno.test("parseBootstrapList takes texts from a list and refuses everything else", () => {
  deepEqual(parseBootstrapList('{"bootstraps":[" a ",7,null,""]}'), ["a", ""]);
  for (const text of ["", "[]", "null", '{"bootstraps":{}}', "7"]) {
    throws(() => parseBootstrapList(text), text);
  }
});
