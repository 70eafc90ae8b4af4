// By which signs does a client recognise the test engine's kind?

/** The engines that the test engine can pass for. */
export type EngineKind =
  | "vllm"
  | "sglang"
  | "llama.cpp"
  | "tgi"
  | "ollama"
  | "tensorrt-llm"
  | "unknown";

/** What an engine of some kind says of itself. */
export type EngineSigns = {
  /** In every entry of `/v1/models`. */
  readonly ownedBy: string;
  /** On every answer; empty for none. */
  readonly serverHeader: string;
  /** Endpoints that only this kind has. */
  readonly endpoints: Readonly<Record<string, unknown>>;
};

/** Shapes as the projects document them, reduced to what tells kind and version. */
export const engineSigns: Readonly<Record<EngineKind, EngineSigns>> = {
  vllm: {
    ownedBy: "vllm",
    serverHeader: "uvicorn",
    endpoints: { "/version": { version: "0.11.2" } },
  },
  sglang: {
    ownedBy: "sglang",
    serverHeader: "uvicorn",
    endpoints: { "/get_server_info": { version: "0.5.4", model_path: "m", tp_size: 1 } },
  },
  "llama.cpp": {
    ownedBy: "llamacpp",
    serverHeader: "llama.cpp",
    endpoints: { "/props": { build_info: "b6869-4da6942", total_slots: 4 } },
  },
  tgi: {
    ownedBy: "m",
    serverHeader: "",
    endpoints: { "/info": { version: "3.3.6", model_id: "m", docker_label: "sha-1" } },
  },
  ollama: {
    ownedBy: "library",
    serverHeader: "",
    endpoints: { "/api/version": { version: "0.12.6" } },
  },
  "tensorrt-llm": {
    ownedBy: "tensorrt_llm",
    serverHeader: "uvicorn",
    endpoints: { "/version": { version: "1.1.0" } },
  },
  unknown: { ownedBy: "test", serverHeader: "", endpoints: {} },
};
