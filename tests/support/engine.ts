// Which engine do tests, the demo and benchmarks stand in for a real one? A deterministic one that
// speaks OpenAI's API, starts in milliseconds, and remembers what it was asked.
import { parseArgs } from "node:util";
import { apiAnswer, transcription } from "./engine_api.ts";
import { benchHandler } from "./engine_bench.ts";
import { type EngineKind, engineSigns } from "./engine_kind.ts";
import { EngineLog } from "./engine_log.ts";
import { errorBody, modelList } from "./engine_openai.ts";
import type { EngineStreamWatch } from "./engine_sse.ts";
import type { EngineOptions, EngineOverride } from "./engine_options.ts";
import { rawPathOf, wireAnswer } from "./engine_wire.ts";

/** A running engine. */
export type Engine = {
  /** `http://127.0.0.1:PORT`, or `unix:PATH`. */
  readonly url: string;
  /** 0 on a Unix socket. */
  readonly port: number;
  readonly name: string;
  readonly log: EngineLog;
  /** From now on `/v1/models` lists these. */
  setModels(models: readonly string[]): void;
  /** From now on `/health` answers so. */
  setHealth(status: number): void;
  /** From now on `/v1/models` answers so; 200 lists the models. */
  setModelsStatus(status: number): void;
  /** While on, POSTs are taken and never answered. */
  setHanging(isHanging: boolean): void;
  /** The next requests for an answer do so instead, one each. */
  addFaults(...faults: readonly EngineOverride[]): void;
  clearFaults(): void;
  /** Ends it at once, open connections included. */
  stop(): Promise<void>;
};

/** Starts an engine in this process. Listens on loopback unless told otherwise. */
export function startEngine(options: EngineOptions = {}): Engine {
  const state: State = {
    models: options.models ?? ["test-model"],
    health: 200,
    modelsStatus: 200,
    isHanging: false,
    faults: [],
  };
  const name = options.name ?? "engine";
  const log = new EngineLog();
  const stopping = new AbortController();
  const signal = stopping.signal;
  const handler = options.isBench
    ? benchHandler(state.models, options.tokens ?? 64, options.intervalMs ?? 20)
    : handlerOf(options, name, state, log);
  const onListen = () => {};
  const server = options.unixPath === undefined
    ? Deno.serve({
      hostname: options.hostname ?? "127.0.0.1",
      port: options.port ?? 0,
      signal,
      onListen,
    }, handler)
    : Deno.serve({ path: options.unixPath, signal, onListen }, handler);
  const port = "port" in server.addr ? server.addr.port : 0;
  return {
    url: port === 0
      ? `unix:${options.unixPath}`
      : `http://${options.hostname ?? "127.0.0.1"}:${port}`,
    port,
    name,
    log,
    setModels: (models) => void (state.models = models),
    setHealth: (status) => void (state.health = status),
    setModelsStatus: (status) => void (state.modelsStatus = status),
    setHanging: (isHanging) => void (state.isHanging = isHanging),
    addFaults: (...faults) => void state.faults.push(...faults),
    clearFaults: () => void state.faults.splice(0),
    stop: async () => {
      stopping.abort();
      await server.finished;
    },
  };
}

type State = {
  models: readonly string[];
  health: number;
  modelsStatus: number;
  isHanging: boolean;
  faults: EngineOverride[];
};
type Served = { readonly completed: Promise<void> };

function handlerOf(
  options: EngineOptions,
  name: string,
  state: State,
  log: EngineLog,
): (request: Request, served: Served) => Promise<Response> {
  return async (request, served) => {
    const path = rawPathOf(request.url);
    const [record, settle] = log.begin(request, path);
    const gone = () => settle("aborted");
    served.completed.then(() => settle("completed"), gone);
    const watch = { sent: () => void record.eventsSent++, gone };
    // The signal also aborts after success, so it is asked only where no answer ever comes.
    const hang = () => new Promise<never>(() => request.signal.addEventListener("abort", gone));
    const readJson = async () => {
      record.bodyText = await request.text();
      log.changed();
      return JSON.parse(record.bodyText) as Record<string, unknown>;
    };
    const turn = { options, name, state, log, watch, hang, readJson };
    const response = await answer(request, path, turn);
    if (response.status !== 101) mark(response.headers, name, options.kind);
    return response;
  };
}

type Turn = {
  readonly options: EngineOptions;
  readonly name: string;
  readonly state: State;
  readonly log: EngineLog;
  readonly watch: EngineStreamWatch;
  /** Never settles; notes when the client goes. */
  readonly hang: () => Promise<never>;
  readonly readJson: () => Promise<Record<string, unknown>>;
};

async function answer(request: Request, path: string, turn: Turn): Promise<Response> {
  const { options, name, state, watch } = turn;
  const endpoint = path.split("?", 1)[0];
  const key = options.apiKey;
  if (
    key && endpoint.startsWith("/v1/") && request.headers.get("authorization") !== `Bearer ${key}`
  ) {
    return Response.json(errorBody("Wrong API key", "invalid_api_key"), { status: 401 });
  }
  if (endpoint.startsWith("/_engine/")) return await control(endpoint, path, turn);
  if (endpoint === "/health") return new Response("ok", { status: state.health });
  const signs = engineSigns[options.kind ?? "unknown"];
  if (endpoint in signs.endpoints) return Response.json(signs.endpoints[endpoint]);
  if (endpoint === "/v1/models") {
    if (state.modelsStatus !== 200) return new Response("no list", { status: state.modelsStatus });
    return Response.json(modelList(state.models, signs.ownedBy));
  }
  const wired = await wireAnswer(request, path, name, watch);
  if (wired) return wired;
  if (request.method !== "POST") {
    return Response.json(errorBody("No such endpoint", "not_found"), { status: 404 });
  }
  if (state.isHanging) await turn.hang();
  if (endpoint === "/v1/audio/transcriptions") return await transcription(request, state.models);
  try {
    const body = await turn.readJson();
    return await apiAnswer({ ...turn, endpoint, body, models: state.models, faults: state.faults });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return Response.json(errorBody("The body is no JSON", "invalid_json"), { status: 400 });
  }
}

/** `/_engine/…`: what `Engine` offers, for engines in another process. */
async function control(endpoint: string, path: string, turn: Turn): Promise<Response> {
  const { state, log, readJson } = turn;
  const params = new URLSearchParams(path.split("?", 2)[1] ?? "");
  if (endpoint === "/_engine/set") Object.assign(state, await readJson());
  if (endpoint === "/_engine/aborted") await log.waitForAborted(Number(params.get("count") ?? 1));
  const requests = log.requests.filter((request) => !request.path.startsWith("/_engine/"));
  return Response.json({ state, abortedCount: log.abortedCount, requests });
}

function mark(headers: Headers, name: string, kind: EngineKind = "unknown"): void {
  headers.set("x-engine", name);
  const server = engineSigns[kind].serverHeader;
  if (server !== "") headers.set("server", server);
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      port: text,
      host: text,
      unix: text,
      models: text,
      name: text,
      kind: text,
      key: text,
      tokens: text,
      first: text,
      interval: text,
      bench: flag,
      json: flag,
    },
  });
  const number = (value: string | undefined) => value === undefined ? undefined : Number(value);
  const engine = startEngine({
    port: number(values.port),
    hostname: values.host,
    unixPath: values.unix,
    models: values.models?.split(","),
    name: values.name,
    kind: values.kind as EngineKind | undefined,
    apiKey: values.key,
    tokens: number(values.tokens),
    firstMs: number(values.first),
    intervalMs: number(values.interval),
    isBench: values.bench,
  });
  const { url, port, name } = engine;
  console.log(
    values.json ? JSON.stringify({ url, port, name, pid: Deno.pid }) : `engine on ${url}`,
  );
}
