import { deepEqual, equal } from "node:assert/strict";
import {
  identityGroupCharsMax,
  matchKeysOfHeader,
  parseIdentityGroup,
} from "../../../lib/routing/identity_group.ts";

Deno.test("parseIdentityGroup reads all, wildcards and exact groups, split at the first =", () => {
  deepEqual(parseIdentityGroup("all"), { kind: "all" });
  deepEqual(parseIdentityGroup("model=*"), { kind: "wildcard", key: "model" });
  deepEqual(parseIdentityGroup("model=a=b"), { kind: "exact", key: "model", value: "a=b" });
  deepEqual(parseIdentityGroup("model=**"), { kind: "exact", key: "model", value: "**" });
});

Deno.test("parseIdentityGroup ignores entries that can match nothing", () => {
  for (const entry of ["", "model", "ALL", "=x", `m=${"x".repeat(identityGroupCharsMax)}`]) {
    equal(parseIdentityGroup(entry), undefined, entry.slice(0, 20));
  }
});

Deno.test("matchKeysOfHeader takes the place of the body only with a key", () => {
  deepEqual(matchKeysOfHeader("model=a=b"), new Map([["model", "a=b"]]));
  deepEqual(matchKeysOfHeader("model="), new Map([["model", ""]]));
  for (const header of ["", "all", "model", "=x"]) {
    equal(matchKeysOfHeader(header), undefined);
  }
});
