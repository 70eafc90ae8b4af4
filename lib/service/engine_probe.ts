// How are health, models and kind of an engine asked for?
import { OtelaError } from "../base/errors.ts";
import {
  detectEngine,
  endpointsToAsk,
  type EngineFacts,
  type EngineSigns,
} from "./engine_detect.ts";
import type { EngineReply } from "./engine_client.ts";
import { type ModelList, parseModelList } from "./model_list.ts";

/** What the questions go through (port; `EngineClient` is the real one). */
export interface EngineAsker {
  get(path: string): Promise<EngineReply>;
}

/** @throws {OtelaError} When the answer is not 2xx, or there is none. */
export async function checkHealth(asker: EngineAsker, healthPath: string): Promise<void> {
  requireSuccess(await asker.get(healthPath), healthPath);
}

/** @throws {OtelaError} When there is no answer, or it is no model list. */
export async function listModels(
  asker: EngineAsker,
): Promise<ModelList & { readonly signs: EngineSigns }> {
  const reply = await asker.get("/v1/models");
  requireSuccess(reply, "/v1/models");
  const list = parseModelList(parseJson(reply.text));
  return { ...list, signs: { ownedBy: list.ownedBy, server: reply.server } };
}

/** What probing found, and whether every question was answered. */
export type ProbeResult = { readonly engine: EngineFacts; readonly isComplete: boolean };

/**
 * Asks one endpoint after the other. Never rejects: an engine that tells nothing is `unknown`. One that stops
 * answering is not asked further, or it would hold up its advertisement once for each endpoint.
 */
export async function probeEngine(asker: EngineAsker, signs: EngineSigns): Promise<ProbeResult> {
  const answers = new Map<string, unknown>();
  let isComplete = true;
  for (const endpoint of endpointsToAsk(signs)) {
    const reply = await asker.get(endpoint).catch(() => undefined);
    if (reply?.status === 200) answers.set(endpoint, jsonOrNothing(reply.text));
    isComplete = reply !== undefined;
    if (!isComplete) break;
  }
  return { engine: detectEngine(signs, answers), isComplete };
}

function requireSuccess({ status }: EngineReply, path: string): void {
  if (status >= 200 && status < 300) return;
  throw new OtelaError(
    "worker_failed",
    `Cannot use the engine as "${path}" must answer 2xx: it answers ${status}`,
  );
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OtelaError("worker_failed", "Cannot read the engine's answer as it must be JSON", {
      cause,
    });
  }
}
