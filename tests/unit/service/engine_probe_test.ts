import { deepEqual, rejects } from "node:assert/strict";
import { checkHealth, listModels, probeEngine } from "../../../lib/service/engine_probe.ts";

/** Answers from a table; what is not in it is refused like a closed port. */
function askerOf(table: Record<string, { status?: number; text?: string; server?: string }>) {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    const reply = table[path];
    if (!reply) return Promise.reject(new Error("refused"));
    return Promise.resolve({ status: 200, text: "", server: "", ...reply });
  };
  return { asked, get };
}

Deno.test("checkHealth passes 2xx alone: a redirect answers for another endpoint", async () => {
  const asker = askerOf({ "/a": { status: 204 }, "/b": { status: 302 }, "/c": { status: 503 } });
  await checkHealth(asker, "/a");
  await rejects(checkHealth(asker, "/b"), { code: "worker_failed", message: /302/ });
  await rejects(checkHealth(asker, "/c"), { code: "worker_failed", message: /503/ });
});

Deno.test("listModels gives models and signs, and refuses what is no JSON", async () => {
  const text = JSON.stringify({ data: [{ id: "a", owned_by: "vllm" }] });
  deepEqual(await listModels(askerOf({ "/v1/models": { text, server: "uvicorn" } })), {
    models: ["a"],
    ownedBy: "vllm",
    signs: { ownedBy: "vllm", server: "uvicorn" },
  });
  const page = askerOf({ "/v1/models": { text: "<html>" } });
  await rejects(listModels(page), { code: "worker_failed" });
});

Deno.test("probeEngine stops at the first endpoint that is not answered, and says so", async () => {
  const asker = askerOf({ "/version": { status: 404 } });
  const { engine, isComplete } = await probeEngine(asker, { ownedBy: "", server: "" });
  deepEqual([engine.kind, isComplete, asker.asked.length], ["unknown", false, 2]);
});

Deno.test("probeEngine lives with answers that are no JSON", async () => {
  const asker = askerOf({ "/version": { text: "1.0" } });
  const { engine, isComplete } = await probeEngine(asker, { ownedBy: "vllm", server: "" });
  deepEqual([engine.kind, engine.version, isComplete], ["vllm", "", true]);
});
