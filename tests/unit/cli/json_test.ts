import { equal } from "node:assert/strict";
import { jsonLine } from "../../../cli/json.ts";

Deno.test("jsonLine writes field names as the configuration has them, at every depth", () => {
  const value = { peerId: "12D3KooW", services: [{ identityGroups: ["model=A"] }], http: null };
  equal(
    jsonLine(value),
    '{"peer_id":"12D3KooW","services":[{"identity_groups":["model=A"]}],"http":null}',
  );
});
