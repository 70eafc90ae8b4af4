import { deepEqual, equal } from "node:assert/strict";
import { detectEngine, endpointsToAsk, unknownEngine } from "../../../lib/service/engine_detect.ts";

const none = { ownedBy: "", server: "" };
const answers = (entries: Record<string, unknown>) => new Map(Object.entries(entries));

Deno.test("detectEngine tells the kinds by who owns their models", () => {
  const cases: [string, string, unknown, string, boolean][] = [
    ["vllm", "/version", { version: "0.11.2" }, "vllm", true],
    ["sglang", "/get_server_info", { version: "0.5.4" }, "sglang", true],
    ["tensorrt_llm", "/version", { version: "1.1.0" }, "tensorrt-llm", false],
    ["library", "/api/version", { version: "0.12.6" }, "ollama", false],
  ];
  for (const [ownedBy, endpoint, answer, kind, continues] of cases) {
    const engine = detectEngine({ ownedBy, server: "" }, answers({ [endpoint]: answer }));
    const { version } = answer as { version: string };
    deepEqual(engine, { kind, version, continues, slots: 0 });
  }
});

Deno.test("detectEngine reads version and slots of llama.cpp, as a real one gives them", () => {
  const props = { build_info: "b6869-4da6942", total_slots: 2, model_alias: "smollm2-135m" };
  const expected = { kind: "llama.cpp", version: "b6869-4da6942", continues: true, slots: 2 };
  for (const signs of [{ ownedBy: "llamacpp", server: "" }, { ownedBy: "", server: "llama.cpp" }]) {
    deepEqual(detectEngine(signs, answers({ "/props": props })), expected);
  }
});

Deno.test("detectEngine tells kinds without a sign by an answer that only they give", () => {
  const tgi = { "/info": { model_id: "m", version: "3.3.6" } };
  equal(detectEngine({ ownedBy: "some/model", server: "" }, answers(tgi)).kind, "tgi");
  const ollama = { "/api/version": { version: "0.12.6" } };
  equal(detectEngine({ ownedBy: "someone", server: "" }, answers(ollama)).kind, "ollama");
});

Deno.test("detectEngine does not guess from a version alone", () => {
  const engine = detectEngine(none, answers({ "/version": { version: "1.0" } }));
  deepEqual(engine, { ...unknownEngine, version: "1.0" });
  deepEqual(detectEngine(none, new Map()), unknownEngine);
});

Deno.test("detectEngine lets nothing into a claim that does not look like a version", () => {
  for (const version of ["1.0\n", "x".repeat(65), 7, null, {}, "a b", ""]) {
    const engine = detectEngine(
      { ownedBy: "vllm", server: "" },
      answers({ "/version": { version } }),
    );
    deepEqual([engine.kind, engine.version], ["vllm", ""]);
  }
  for (const answer of [null, [], "text", 1]) {
    equal(
      detectEngine({ ownedBy: "vllm", server: "" }, answers({ "/version": answer })).version,
      "",
    );
  }
});

Deno.test("endpointsToAsk asks a known kind only for its own, and an unknown one for all, each once", () => {
  deepEqual(endpointsToAsk({ ownedBy: "VLLM", server: "uvicorn" }), ["/version"]);
  const all = endpointsToAsk(none);
  equal(new Set(all).size, all.length);
  deepEqual(all.includes("/info") && all.includes("/props"), true);
});
