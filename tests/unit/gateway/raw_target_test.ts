import { deepEqual, throws } from "node:assert/strict";
import { rawTarget } from "../../../lib/gateway/raw_target.ts";

Deno.test("rawTarget cuts path and query and changes nothing, when a URL looks odd", () => {
  const rows: [string, string, string][] = [
    ["/a", "/a", ""],
    ["/a%2Fb?x=1%26&y=a+b", "/a%2Fb", "?x=1%26&y=a+b"],
    ["//double//slash", "//double//slash", ""],
    ["/a/../b/./%2e%2e", "/a/../b/./%2e%2e", ""],
    ["/?a?b/c", "/", "?a?b/c"],
    ["/%zz?%zz", "/%zz", "?%zz"],
  ];
  for (const host of ["h", "h.example:8092", "[::1]:8092"]) {
    for (const [target, path, query] of rows) {
      deepEqual(rawTarget(`http://${host}${target}`), { path, query });
    }
  }
});

Deno.test("rawTarget refuses what is no path of visible ASCII", () => {
  for (const url of ["http://a:80", "http://h/ü", "http://h/a#b", "http://h/a b", "http://h?/a"]) {
    throws(() => rawTarget(url), { code: "bad_request" });
  }
});
