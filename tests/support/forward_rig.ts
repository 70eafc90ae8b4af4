// How do tests get the forward path in front of several engines, without a mesh between?
import type { PeerId } from "../../lib/base/peer_id.ts";
import { silentLog } from "../../lib/base/ports.ts";
import { EngineCalls } from "../../lib/exchange/engine_calls.ts";
import { LocalExchanger } from "../../lib/exchange/local_exchanger.ts";
import { ExchangeError, type Exchanger } from "../../lib/exchange/types.ts";
import type { AccessRecord } from "../../lib/gateway/access_log.ts";
import { ClientSweep } from "../../lib/gateway/client_sweep.ts";
import { listenForClients } from "../../lib/gateway/door_listener.ts";
import { createForwarder } from "../../lib/gateway/forward.ts";
import type { ForwarderPorts } from "../../lib/gateway/forward_ports.ts";
import { ForwardAdmission } from "../../lib/gateway/forward_admission.ts";
import { ForwardDeadlines } from "../../lib/gateway/forward_deadlines.ts";
import { createRequestMeter } from "../../lib/metrics/request_meter.ts";
import { requestSeries } from "../../lib/metrics/request_series.ts";
import type { ServiceClaim } from "../../lib/registry/claim.ts";
import { AnswerPlaces } from "../../lib/routing/answer_places.ts";
import { LoadBook } from "../../lib/routing/load_book.ts";
import { Outliers } from "../../lib/routing/outliers.ts";
import { createSelector } from "../../lib/routing/policies/selector.ts";
import type { LbPolicy } from "../../lib/routing/policies/types.ts";
import { PrefixIndex } from "../../lib/routing/prefix_index.ts";
import { RetryBudget } from "../../lib/routing/retry_budget.ts";
import { claim, entry, fixture, peer, service, viewOf } from "../unit/gateway/fixture.ts";
import { type Engine, startEngine } from "./engine.ts";
import type { EngineOptions, EngineOverride } from "./engine_options.ts";
import { upstreamOf } from "./exchange_pair.ts";
import type { Upstream } from "../../lib/exchange/upstream.ts";

const clock = { nowMs: () => performance.now() };

/** A head without a mesh: its workers are engines that it calls itself, each under a peer's name. */
export type ForwardRig = AsyncDisposable & {
  /** Of the client door. */
  readonly url: string;
  /** In the order of their peers; round-robin begins with the first. */
  readonly engines: readonly Engine[];
  readonly peers: readonly PeerId[];
  readonly ports: ForwarderPorts;
  readonly records: AccessRecord[];
  /** What the next requests get instead, one each, whoever is asked. */
  readonly faults: EngineOverride[];
  readonly series: ReturnType<typeof requestSeries>;
  /** From now on the peer's engine is another one. */
  redirect(index: number, url: string): void;
  /** A POST of JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
};

/** What differs from the defaults. */
export type ForwardRigOptions = {
  readonly engines?: readonly EngineOptions[];
  readonly claim?: Partial<ServiceClaim>;
  readonly policy?: LbPolicy;
  readonly limits?: Partial<ForwarderPorts["limits"]>;
  readonly upstream?: Partial<Upstream>;
  readonly admission?: { queueMax: number; queueWaitMs: number };
};

/** Starts engines (three by default, of kind vllm) and a door in front of them. */
export function startForwardRig(options: ForwardRigOptions = {}): ForwardRig {
  const faults: EngineOverride[] = [];
  const engines = (options.engines ?? [{}, {}, {}]).map((one, index) =>
    startEngine({ kind: "vllm", name: `engine-${index}`, sharedFaults: faults, ...one })
  );
  const peers = engines.map((_, index) => peer("ABCDEFGH"[index]));
  const calls = new EngineCalls(clock);
  const localAt = (url: string): LocalExchanger => {
    const upstream = upstreamOf(url, options.upstream);
    return new LocalExchanger(calls, (name) => name === "llm" ? upstream : undefined);
  };
  const locals = new Map(engines.map(({ url }, index) => [peers[index], localAt(url)]));
  const at = (to: PeerId): LocalExchanger => {
    const local = locals.get(to);
    if (!local) throw new ExchangeError("unreachable", "not_sent", "there is no such worker");
    return local;
  };
  const exchanger: Exchanger = {
    request: (to, head, body, observe) => at(to).request(head, body, observe),
    openSocket: (to, head, signal) => at(to).openSocket(head, signal),
  };
  const claims = engines.map((_, index) =>
    entry(
      peers[index],
      claim({
        ...service(
          "llm",
          ...(options.engines?.[index].models ?? ["test-model"]).map((id) => `model=${id}`),
        ),
        capacity: 0,
        ...options.claim,
      }),
    )
  );
  const view = viewOf(...claims);
  const book = new LoadBook();
  const outliers = new Outliers();
  const records: AccessRecord[] = [];
  const series = requestSeries();
  const sweep = new ClientSweep();
  const deadlines = new ForwardDeadlines(clock);
  const admission = new ForwardAdmission(clock, book, {
    queueMax: 100,
    queueWaitMs: 2_000,
    ...options.admission,
  });
  const gate = { hasService: () => true, hasWorker: () => true };
  const policy = options.policy ?? "round-robin";
  const ports: ForwarderPorts = {
    self: peer("S"),
    clock,
    wallClock: () => Date.now(),
    log: silentLog,
    view: () => view,
    selector: createSelector(policy, { book, random: () => 0, prefixes: new PrefixIndex() }),
    selectorName: policy,
    weightOf: () => 1,
    book,
    outliers,
    budget: new RetryBudget(),
    admission,
    deadlines,
    answerPlaces: new AnswerPlaces(),
    exchanger,
    meter: createRequestMeter(series, { clock, gate }),
    accessLog: { wants: () => true, write: (record) => void records.push(record) },
    sweep,
    limits: {
      scanBytesMax: 1 << 20,
      bytesMax: 1 << 24,
      replayBytesMax: 1 << 20,
      holdBytesMax: 1 << 20,
      retry: { isEnabled: true, retriesMax: 3 },
      noContinuation: new Set(),
      noHold: new Set(),
      continuationsMax: 2,
      headTimeoutMs: 20_000,
      firstTokenTimeoutMs: 20_000,
      idleTimeoutMs: 20_000,
      totalTimeoutMs: 60_000,
      bodyTimeoutMs: 20_000,
      keepAliveMs: 0,
      ...options.limits,
    },
  };
  const { door } = fixture({ forwarder: createForwarder(ports), view: () => view });
  const listener = listenForClients(door, { host: "127.0.0.1", port: 0, isPortExplicit: false });
  return {
    url: listener.url,
    engines,
    peers,
    ports,
    records,
    faults,
    series,
    redirect: (index, url) => void locals.set(peers[index], localAt(url)),
    post: (path, body, headers = {}) =>
      fetch(`${listener.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      sweep.close();
      deadlines.close();
      admission.close();
      calls.close();
      await Promise.all(engines.map((engine) => engine.stop()));
      await listener.close(2_000);
    },
  };
}

/** A chat that every engine of the rig answers alike. */
export function chatOf(
  tokens: number,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    model: "test-model",
    messages: [{ role: "user", content: "count" }],
    x_engine: { tokens },
    ...more,
  };
}

/** What a client makes of a stream of a chat or completion. */
export type HeardStream = {
  readonly text: string;
  readonly ids: readonly string[];
  readonly reasons: readonly string[];
  readonly usage: Record<string, number> | undefined;
  readonly errors: readonly { code: string; message: string }[];
  readonly doneCount: number;
  /** The connection ended as HTTP says it must. */
  readonly isClean: boolean;
};

/** Reads a stream to its end, whatever end it has. */
export async function hearStream(response: Response): Promise<HeardStream> {
  let raw = "";
  let isClean = true;
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body!) raw += decoder.decode(chunk, { stream: true });
  } catch {
    isClean = false;
  }
  const data = raw.split(/(?:\r\n|\n|\r){2}/).flatMap((block) =>
    block.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:")).map((line) =>
      line.slice(5).trim()
    )
  );
  const events = data.filter((text) => text !== "[DONE]" && isJson(text)).map((text) =>
    JSON.parse(text)
  );
  const choices = events.flatMap((event) => event.choices ?? []);
  return {
    text: choices.map((one) => one.delta?.content ?? one.text ?? "").join(""),
    ids: [...new Set(events.map((event) => event.id).filter((id) => id !== undefined))],
    reasons: choices.map((one) => one.finish_reason).filter((reason) => reason),
    usage: events.findLast((event) => event.usage)?.usage,
    errors: events.filter((event) => event.error).map((event) => event.error),
    doneCount: data.filter((text) => text === "[DONE]").length,
    isClean,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
