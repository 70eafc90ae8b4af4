import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { checkServicePath, pathCharsMax } from "../../../lib/routing/service_path.ts";

function verdict(target: string): string {
  const path = checkServicePath(target);
  return path.isForwarded ? path.path : path.reason;
}

/** Rows of the case: raw path after the service's prefix, and what must come out. */
const rows: readonly (readonly [string, "same" | "escapes" | "nul"])[] = [
  ["/api/data/a%2Fb.json?x=1%26&y=a+b", "same"],
  ["/v1/models/org%2Fdemo-7b", "same"],
  ["/v1/models/org/demo-7b", "same"],
  ["//double//slash", "same"],
  ["/sp%20ace/%E4%BD%A0", "same"],
  ["/a;v=1/b", "same"],
  ["/?q=%zz", "same"],
  ["/..%2fadmin", "escapes"],
  ["/%2e%2e/admin", "escapes"],
  ["/a/../../admin", "escapes"],
  ["/%252e%252e%252fadmin", "same"],
  ["/a%5C..%5Cb", "same"],
  ["/a%00b", "nul"],
];

Deno.test("C022: checkServicePath forwards byte for byte or refuses what leaves the scope", () => {
  for (const [target, expected] of rows) {
    equal(verdict(target), expected === "same" ? target : expected, target);
  }
});

Deno.test("checkServicePath refuses every spelling of a way out", () => {
  const ways = [
    "/..",
    "..",
    "/.%2e",
    "/%2E.",
    "/a/..%2f..",
    "/a/%2e%2E%2F%2e%2e/",
    "/./..",
    "//..",
    "/\\..",
  ];
  for (
    const target of [...ways, "/a%5c..%5C..", "/..;x=1/b", "/..%3bx/b", "/a/..\\../b", "/..?q"]
  ) {
    equal(verdict(target), "escapes", target);
  }
});

Deno.test("checkServicePath forwards dots that stay inside, and queries of any kind", () => {
  const inside = [
    "/a/..",
    "/a/b/../c",
    "/.",
    "/...",
    "/.well-known/x",
    "/a..b/..c",
    "/%zz/%",
    "/%",
  ];
  for (const target of [...inside, "/?../../..", "/a?x=%00&y=%2e%2e/", "/a?b?c"]) {
    equal(verdict(target), target, target);
  }
  equal(verdict(""), "/");
  equal(verdict("?x=1"), "/?x=1");
});

Deno.test("checkServicePath refuses characters that no request line has, and what is too long", () => {
  for (const target of ["/a b", "/a\r\nX: y", "/a?b\tc", "/\x7f"]) {
    equal(verdict(target), "bad_character", target);
  }
  equal(verdict("/\0"), "nul");
  equal(verdict("/" + "a".repeat(pathCharsMax - 1)).length, pathCharsMax);
  equal(verdict("/" + "a".repeat(pathCharsMax)), "too_long");
});

Deno.test("checkServicePath lets nothing through that a URL parser takes out of the prefix", () => {
  const piece = fc.constantFrom(
    "..",
    ".",
    "%2e",
    "%2E",
    "/",
    "%2f",
    "\\",
    "%5c",
    "a",
    ";",
    "?",
    "%25",
    "%",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const target = `/${pieces.join("")}`;
      const path = checkServicePath(target);
      if (!path.isForwarded) return;
      equal(path.path, target);
      // The oracle resolves dots and backslashes as browsers do; decoding slashes first is what naive servers do.
      const decoded = target.split("?")[0].replaceAll(/%2f/gi, "/").replaceAll(/%5c/gi, "\\");
      const resolved = new URL(`http://engine/scope/deep${decoded.split("%25").join("x")}`);
      deepEqual(resolved.pathname.startsWith("/scope/deep"), true, target);
    }),
    { numRuns: 2_000 },
  );
});
