import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { OtelaError } from "../../../lib/base/errors.ts";
import { matchTarget } from "../../../lib/gateway/endpoint.ts";
import { peer } from "./fixture.ts";

const match = (path: string, query = "") => matchTarget("GET", { path, query }, "llm");

Deno.test("matchTarget finds service, path and prefix, when a path names a service", () => {
  const id = peer("B");
  for (
    const [path, prefix, enginePath] of [
      ["/v1/service/llm", "/v1/service/llm", "/"],
      ["/v1/service/llm/", "/v1/service/llm", "/"],
      ["/v1/service/llm//a%2Fb/", "/v1/service/llm", "//a%2Fb/"],
      ["/v1/_service/llm/v1/models", "/v1/_service/llm", "/v1/models"],
      [`/v1/p2p/${id}/v1/service/llm/x`, `/v1/p2p/${id}/v1/service/llm`, "/x"],
      [`/v1/p2p/${id}/v1/_service/llm`, `/v1/p2p/${id}/v1/_service/llm`, "/"],
      [`/v1/p2p-service/${id}/llm/x`, `/v1/p2p-service/${id}/llm`, "/x"],
    ]
  ) {
    const target = match(path, "?q=%2F");
    equal(target?.service, "llm", path);
    equal(target?.path, `${enginePath}?q=%2F`);
    equal(target?.publicPrefix, prefix);
  }
});

Deno.test("matchTarget leaves a path alone, when it belongs to no service", () => {
  for (
    const path of ["/", "/v1/models", "/v1/audiox", "/V1/service/llm/", "/v1/service", "/v1/p2p"]
  ) {
    equal(match(path), undefined, path);
  }
});

Deno.test("matchTarget refuses names that no service can have", () => {
  for (const name of ["", "..", "a%2Fb", "-x", "a b", "x".repeat(81)]) {
    throws(() => match(`/v1/service/${name}/x`), { code: "bad_request" }, name);
  }
  throws(() => match(`/v1/p2p-service/${peer("B")}`), { code: "bad_request" });
});

Deno.test("C022: matchTarget keeps a path as it came, or refuses it", () => {
  for (const path of ["/a/../b", "/%252e%252e%252fadmin", "/a%5C..%5Cb", "/.../x"]) {
    equal(match(`/v1/service/llm${path}`)?.path, path);
  }
  for (const path of ["/..", "/..%2fadmin", "/%2E./x", "/a//../../x", "/..;v=1/x", "/a%00b"]) {
    for (
      const prefix of ["/v1/service/llm", "/v1/_service/llm", `/v1/p2p-service/${peer("B")}/llm`]
    ) {
      throws(() => match(prefix + path), { code: "bad_request" }, prefix + path);
    }
  }
});

Deno.test("C022: matchTarget splits a path without changing a byte, or refuses it in a foreseen way", () => {
  const prefix = fc.constantFrom(
    "/v1/service/",
    "/v1/_service/",
    `/v1/p2p/${peer("B")}/v1/_service/`,
    `/v1/p2p-service/${peer("B")}/`,
    "/v1/p2p/",
    "/",
  );
  const piece = fc.constantFrom(
    "llm",
    "/",
    "//",
    "..",
    ".",
    "%2f",
    "%2e",
    "%",
    "\\",
    ";",
    "é",
    "\0",
  );
  const rest = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  fc.assert(fc.property(prefix, rest, fc.string(), (start, tail, query) => {
    const path = start + tail;
    try {
      const target = match(path, `?${query}`);
      if (!target) return;
      const root = path === target.publicPrefix ? "/" : "";
      equal(target.publicPrefix + target.path, `${path}${root}?${query}`);
    } catch (error) {
      if (!(error instanceof OtelaError)) throw error;
    }
  }));
});

Deno.test("C022: matchTarget lets no path of OpenAI's trees leave its tree", () => {
  throws(() => match("/v1/audio/../dnt/table"), { code: "bad_request" });
  throws(() => match("/v1/responses/%2e%2e%2fadmin"), { code: "bad_request" });
  deepEqual(match("/v1/audio/a/../b")?.path, "/v1/audio/a/../b");
});

Deno.test("matchTarget takes the service of OpenAI's paths from the configuration", () => {
  const target = matchTarget("POST", { path: "/v1/embeddings", query: "" }, "vllm-a");
  deepEqual([target?.service, target?.publicPrefix], ["vllm-a", "/v1/service/vllm-a"]);
});
