// Which engine is behind a service, judged by what it says of itself?
import type { EngineClaim } from "../registry/claim.ts";

/** What detection finds. */
export type EngineFacts = EngineClaim & {
  /** Requests it runs at once, as it says itself; 0 when it does not. */
  readonly slots: number;
};

/** What is known before any special endpoint was asked. */
export type EngineSigns = {
  /** `owned_by` of its first model; empty when unknown. */
  readonly ownedBy: string;
  /** The `server` header of its model list; empty when it has none. */
  readonly server: string;
};

/** Answers 200 with JSON on these endpoints, by endpoint; the others failed. */
export type EngineAnswers = ReadonlyMap<string, unknown>;

/** Nothing is known of it. */
export const unknownEngine: EngineFacts = {
  kind: "unknown",
  version: "",
  continues: false,
  slots: 0,
};

/** One kind of engine. */
type Kind = {
  readonly kind: string;
  /** Its `owned_by`, in lower case. TGI puts the model's name there. */
  readonly ownedBy?: string;
  readonly server?: string;
  /** Where it tells its version, newest form first. */
  readonly endpoints: readonly string[];
  /** Whether an answer of these endpoints can only be its own. */
  readonly isOwn: (answer: Fields) => boolean;
  readonly version: (answer: Fields) => unknown;
  readonly continues: boolean;
};
type Fields = Readonly<Record<string, unknown>>;

/**
 * Sources: vllm `entrypoints/openai/api_server.py`, sglang `entrypoints/http_server.py`, llama.cpp
 * `tools/server` (also measured, facts §16), TGI `router/src/server.rs`, Ollama `docs/api.md`, TensorRT-LLM
 * `serve/openai_server.py`. Continuation (`continue_final_message`): the first three know it.
 */
const kinds: readonly Kind[] = [
  {
    kind: "vllm",
    ownedBy: "vllm",
    endpoints: ["/version"],
    isOwn: () => false,
    version: (answer) => answer.version,
    continues: true,
  },
  {
    kind: "tensorrt-llm",
    ownedBy: "tensorrt_llm",
    endpoints: ["/version"],
    isOwn: () => false,
    version: (answer) => answer.version,
    continues: false,
  },
  {
    kind: "sglang",
    ownedBy: "sglang",
    endpoints: ["/server_info", "/get_server_info"],
    isOwn: (answer) => "version" in answer && "model_path" in answer,
    version: (answer) => answer.version,
    continues: true,
  },
  {
    kind: "llama.cpp",
    ownedBy: "llamacpp",
    server: "llama.cpp",
    endpoints: ["/props"],
    isOwn: (answer) => "build_info" in answer,
    version: (answer) => answer.build_info,
    continues: true,
  },
  {
    kind: "ollama",
    ownedBy: "library",
    endpoints: ["/api/version"],
    isOwn: (answer) => "version" in answer,
    version: (answer) => answer.version,
    continues: false,
  },
  {
    kind: "tgi",
    endpoints: ["/info"],
    isOwn: (answer) => "model_id" in answer && "version" in answer,
    version: (answer) => answer.version,
    continues: false,
  },
];

/**
 * The endpoints worth asking: those of the kind that the signs name, else those of every kind, in order.
 * @returns At most one for each form that is known; never empty.
 */
export function endpointsToAsk(signs: EngineSigns): readonly string[] {
  const named = kindNamed(signs);
  const endpoints = named ? named.endpoints : kinds.flatMap((kind) => kind.endpoints);
  return [...new Set(endpoints)];
}

/** Judges kind and version. Signs win over answers, because proxies answer for what is behind them. */
export function detectEngine(signs: EngineSigns, answers: EngineAnswers): EngineFacts {
  const kind = kindNamed(signs) ??
    kinds.find((one) => fieldsOf(one, answers).some((answer) => one.isOwn(answer)));
  if (!kind) {
    const version = versionText(Object(answers.get("/version")).version);
    return { ...unknownEngine, version };
  }
  const [answer = {}] = fieldsOf(kind, answers);
  return {
    kind: kind.kind,
    version: versionText(kind.version(answer)),
    continues: kind.continues,
    slots: slotsOf(answer.total_slots),
  };
}

function kindNamed({ ownedBy, server }: EngineSigns): Kind | undefined {
  const owner = ownedBy.toLowerCase();
  return kinds.find((kind) =>
    (kind.ownedBy !== undefined && kind.ownedBy === owner) ||
    (kind.server !== undefined && server.toLowerCase().startsWith(kind.server))
  );
}

function fieldsOf(kind: Kind, answers: EngineAnswers): Fields[] {
  return kind.endpoints.map((endpoint) => answers.get(endpoint)).filter((answer) =>
    typeof answer === "object" && answer !== null && !Array.isArray(answer)
  ) as Fields[];
}

/** Versions reach claims, tables and metrics, so only what looks like one passes. */
function versionText(value: unknown): string {
  return typeof value === "string" && /^[\w.+-]{1,64}$/.test(value) ? value : "";
}

function slotsOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0;
}
