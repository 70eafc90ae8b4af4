// Is the admission tag bound to secret, network and peer?
import { equal, notDeepEqual } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { admitTag } from "../../../lib/mesh/admit.ts";

const peer = parsePeerId("12D3KooWMJzrgzc56zUxZGVrny7FfiL4WQXTVpek3eodPqWWysAt");
const other = parsePeerId("12D3KooWEDRDM8gpmcRzn2xg5zQ8SMvAo2wAnFYfTaLxwkp6bD9V");

Deno.test("admitTag is the HMAC of the protocol, as another implementation computes it", () => {
  const expected = createHmac("sha256", "secret").update(`otela-admit-v1net${peer}`).digest("hex");
  equal(Buffer.from(admitTag("secret", "net", peer)).toString("hex"), expected);
});

Deno.test("admitTag differs by secret, network and peer", () => {
  const tag = admitTag("secret", "net", peer);
  notDeepEqual(admitTag("Secret", "net", peer), tag);
  notDeepEqual(admitTag("secret", "other", peer), tag);
  notDeepEqual(admitTag("secret", "net", other), tag);
});

Deno.test("admitTag is empty in an open network", () => {
  equal(admitTag(undefined, "net", peer).byteLength, 0);
  equal(admitTag("", "net", peer).byteLength, 0);
});
