import { deepEqual, equal } from "node:assert/strict";
import { loadText } from "./load_text.ts";

const peer = "12D3KooWC8aft7kcBCBfF3VYstBZ8nGSzPQjpWwemiC5cZTo2LGe";

Deno.test("buildServices describes one service by flags with every default filled in", () => {
  const flags = { "service.name": "llm", "service.port": "8000" };
  const [service] = loadText(undefined, { flags }).config.services;
  deepEqual(JSON.parse(JSON.stringify(service)), {
    name: "llm",
    url: "http://127.0.0.1:8000",
    socketPath: null,
    healthPath: "/health",
    healthIntervalMs: 2_000,
    healthFailures: 3,
    identityGroups: [],
    upstreamKey: null,
    upstreamHeaders: {},
    allow: "network",
    retry: "safe",
    capacity: 0,
    modelRefreshMs: 2_000,
    engine: { kind: null, continues: null },
  });
});

Deno.test("buildServices reads every key of a list's entry", () => {
  const text = `services:
- name: llm
  url: https://gpu1:8000/base/
  health_path: ready
  health_interval: 10s
  health_failures: 5
  identity_group: [all, all, model=a]
  upstream_key_file: key
  upstream_headers: {X-Tenant: lab}
  allow: [${peer}]
  retry: never
  capacity: 8
  model_refresh: 1m
  engine: vllm
  engine_continues: true
- {name: tts, socket: run/tts.sock}
- {name: v6, host: "::1", port: 9000}
`;
  const files = { "/home/ada/.config/opentela/key": "sk-1\n" };
  const [llm, tts, v6] = loadText(text, { files }).config.services;
  deepEqual(JSON.parse(JSON.stringify(llm)), {
    name: "llm",
    url: "https://gpu1:8000/base",
    socketPath: null,
    healthPath: "/ready",
    healthIntervalMs: 10_000,
    healthFailures: 5,
    identityGroups: ["all", "model=a"],
    upstreamKey: "sk-1",
    upstreamHeaders: { "x-tenant": "lab" },
    allow: [peer],
    retry: "never",
    capacity: 8,
    modelRefreshMs: 60_000,
    engine: { kind: "vllm", continues: true },
  });
  equal(tts.socketPath, "/home/ada/.config/opentela/run/tts.sock");
  equal(tts.url, "http://localhost");
  equal(v6.url, "http://[::1]:9000");
});

Deno.test("buildServices joins the single service and the list, and neither changes the other", () => {
  const text = "service: {name: a, port: 1, capacity: 9}\nservices: [{name: b, port: 2}]\n";
  const { services } = loadText(text).config;
  deepEqual(services.map(({ name, capacity }) => [name, capacity]), [["a", 9], ["b", 0]]);
});

Deno.test("buildServices reads the list from the environment as JSON", () => {
  const env = { OF_SERVICES: `[{"name":"a","port":1,"identity_group":["all"]}]` };
  const [service] = loadText(undefined, { env }).config.services;
  equal(service.name, "a");
  deepEqual(service.identityGroups, ["all"]);
});

Deno.test("B62: buildServices takes a health path with and without its slash, and an empty one for the usual", () => {
  const rows = [['""', "/health"], ["status", "/status"], ["/status", "/status"], [
    "a/b?x=1",
    "/a/b?x=1",
  ]];
  for (const [given, path] of rows) {
    const [service] =
      loadText(`service: {name: a, port: 1, health_path: ${given}}\n`).config.services;
    equal(service.healthPath, path, given);
  }
});
