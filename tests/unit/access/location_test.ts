import { equal } from "node:assert/strict";
import { locationForClient, locationInService } from "../../../lib/access/location.ts";

const engine = { authority: "127.0.0.1:8000", basePath: "" };

Deno.test("C029: locationInService takes the engine's address away, whatever name it has for itself", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["http://127.0.0.1:8000/v1/chat/completions/", "/v1/chat/completions/"],
    ["http://localhost:8000/a?b#c", "/a?b#c"],
    ["HTTP://LOCALHOST:8000/A", "/A"],
    ["http://[::1]:8000/a", "/a"],
    ["//0.0.0.0:8000/a", "/a"],
    ["http://127.0.0.1:8000", "/"],
    ["http://127.0.0.1:8000?x=1", "/?x=1"],
    ["/v1/x/", "/v1/x/"],
    ["x/", "x/"],
    ["../x", "../x"],
    ["?page=2", "?page=2"],
    ["", ""],
  ];
  for (const [location, expected] of rows) {
    equal(locationInService(location, engine), expected, location);
  }
});

Deno.test("locationInService leaves other hosts and ports alone", () => {
  const others = ["http://127.0.0.1:8001/a", "https://cdn.example/a", "//cdn.example/a"];
  for (
    const location of [
      ...others,
      "http://localhost/a",
      "mailto:a@b",
      "http://127.0.0.1:8000@evil/a",
    ]
  ) {
    equal(locationInService(location, engine), location);
  }
  const far = { authority: "gpu1:80", basePath: "" };
  equal(locationInService("http://gpu1/a", far), "/a");
  equal(locationInService("https://gpu1/a", far), "https://gpu1/a");
});

Deno.test("locationInService takes the engine's base path away, and keeps what lies outside it", () => {
  const based = { ...engine, basePath: "/api" };
  equal(locationInService("http://127.0.0.1:8000/api/v1/", based), "/v1/");
  equal(locationInService("/api", based), "/");
  equal(locationInService("/api?x", based), "/?x");
  equal(locationInService("/apix", based), "/apix");
});

Deno.test("locationForClient prefixes paths only", () => {
  equal(locationForClient("/a", "/v1/service/llm"), "/v1/service/llm/a");
  equal(locationForClient("/a", ""), "/a");
  for (const other of ["https://x/a", "//x/a", "a", "../a", "?x", ""]) {
    equal(locationForClient(other, "/v1/service/llm"), other);
  }
});
