// How do tests get a head's client and a worker's server, joined in memory?
import { parsePeerId, type PeerId } from "../../lib/base/peer_id.ts";
import { silentLog } from "../../lib/base/ports.ts";
import { EngineCalls } from "../../lib/exchange/engine_calls.ts";
import { ExchangeClient } from "../../lib/exchange/exchange_client.ts";
import { ExchangeServer } from "../../lib/exchange/exchange_server.ts";
import { LanePool } from "../../lib/exchange/lane_pool.ts";
import { LocalExchanger } from "../../lib/exchange/local_exchanger.ts";
import type { Upstream } from "../../lib/exchange/upstream.ts";
import { WindowBudget } from "../../lib/lane/window.ts";
import {
  type ByteStreamPair,
  byteStreamPair,
  type ByteStreamPairOptions,
} from "./byte_stream_pair.ts";
import { poolTo } from "./pool_call.ts";

export const headPeer: PeerId = parsePeerId("12D3KooWHeadHeadHeadHeadHeadHeadHeadHeadHeadHeadHead");
export const workerPeer: PeerId = parsePeerId(
  "12D3KooWWorkerWorkerWorkerWorkerWorkerWorkerWorkerWo",
);

const clock = { nowMs: () => performance.now() };

/** A head and a worker in one process, and the connections between them. */
export type ExchangePair = AsyncDisposable & {
  readonly client: ExchangeClient;
  readonly server: ExchangeServer;
  readonly calls: EngineCalls;
  readonly pool: LanePool;
  readonly budget: { head: WindowBudget; worker: WindowBudget };
  /** One per lane that was opened, in order. */
  readonly connections: ByteStreamPair[];
  readonly stalled: PeerId[];
};

export function upstreamOf(url: string, more: Partial<Upstream> = {}): Upstream {
  return {
    name: "llm",
    pool: poolTo(url),
    origin: url,
    basePath: "",
    headers: [],
    allow: "network",
    headTimeoutMs: 60_000,
    firstTokenTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    ...more,
  };
}

/** @param upstreams The worker's services. */
export function exchangePair(
  upstreams: readonly Upstream[],
  options: ByteStreamPairOptions = {},
): ExchangePair {
  const budget = { head: new WindowBudget(), worker: new WindowBudget() };
  const calls = new EngineCalls(clock);
  const findUpstream = (name: string) => upstreams.find((upstream) => upstream.name === name);
  const settings = { clock, exchangesMax: 10_000 };
  const server = new ExchangeServer({
    settings: { ...settings, budget: budget.worker },
    calls,
    findUpstream,
    log: silentLog,
  });
  const connections: ByteStreamPair[] = [];
  const stalled: PeerId[] = [];
  const openStream = (): Promise<ByteStreamPair["a"]> => {
    const pair = byteStreamPair(options);
    connections.push(pair);
    server.accept(headPeer, pair.b);
    return Promise.resolve(pair.a);
  };
  const pool = new LanePool(
    openStream,
    { ...settings, budget: budget.head },
    (peer) => stalled.push(peer),
  );
  const local = new LocalExchanger(calls, findUpstream);
  const client = new ExchangeClient({ self: headPeer, clock, pool, local, onLoad: () => {} });
  return {
    client,
    server,
    calls,
    pool,
    budget,
    connections,
    stalled,
    [Symbol.asyncDispose]: async () => {
      pool.close();
      server.close();
      calls.close();
      await Promise.all(upstreams.map((upstream) => upstream.pool.destroy()));
    },
  };
}
