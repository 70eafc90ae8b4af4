import { deepEqual, equal, ok } from "node:assert/strict";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { createNodeMetrics } from "../../../lib/metrics/node_metrics.ts";
import { serviceSeriesMax } from "../../../lib/metrics/request_series.ts";

const worker = parsePeerId(`12D3KooW${"A".repeat(43)}B`);

function metrics(options: { services?: (name: string) => boolean } = {}) {
  let nowMs = 0;
  const node = createNodeMetrics({
    clock: { nowMs: () => nowMs },
    gate: {
      hasService: options.services ?? ((name) => name === "llm"),
      hasWorker: (peer) => peer === worker,
    },
    sources: {
      build: { version: "0.1.0", role: "head" },
      registry: () => ({ claims: 3, claimBytes: 2_400, refusals: { forged: 2, 'qu"ote\n': 1 } }),
      peers: () => ({ alive: 2, suspect: 0, left: 1 }),
      lanes: () => ({ open: 2, exchanges: 5, unsentBytes: 9, windowBytes: 65_536 }),
      pool: () => ({ calls: 4, connections: 6, waiting: 1 }),
      routing: () => ({ waiting: 7, restingEngines: 8 }),
    },
  });
  return { ...node, advance: (ms: number) => void (nowMs += ms) };
}

const line = /^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/i;

/** A small parser of the text format: fails on what Prometheus would not read. */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const types = new Map<string, string>();
  ok(text.endsWith("\n"));
  for (const row of text.split("\n")) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(row);
    if (comment?.[1] === "TYPE") {
      ok(!types.has(comment[2]), `${comment[2]} is there once`);
      types.set(comment[2], comment[3]);
    }
    if (comment || row === "") continue;
    const match = line.exec(row);
    ok(match, `a line of the text format: ${row}`);
    const base = match[1].replace(/_(bucket|sum|count)$/, "");
    ok(types.has(match[1]) || types.get(base) === "histogram", `a type before ${match[1]}`);
    const value = Number(match[3]);
    ok(Number.isFinite(value));
    const key = match[2] ? `${match[1]}{${match[2]}}` : match[1];
    ok(!values.has(key), `one line of ${key}`);
    values.set(key, value);
  }
  return values;
}

Deno.test("createNodeMetrics counts a request once by service, outcome and worker", async () => {
  const { meter, text, advance } = metrics();
  const token = meter.started("llm");
  equal(parse(await text()).get('otela_requests_in_flight{service="llm"}'), 1);
  advance(20);
  token.firstByte();
  advance(1_000);
  token.firstByte();
  token.finished("ok", worker, 2, 200);
  token.finished("worker_failed", worker, 9, 502);
  const values = parse(await text());
  const expected: Record<string, number> = {
    'otela_requests_in_flight{service="llm"}': 0,
    [`otela_requests_total{service="llm",outcome="ok",worker="${worker}"}`]: 1,
    'otela_request_attempts_total{service="llm"}': 2,
    'otela_routing_requests_total{service="llm",status="200"}': 1,
    'otela_routing_retries_total{service="llm",outcome="succeeded_after_retry"}': 1,
    'otela_request_first_byte_seconds_bucket{service="llm",le="0.01"}': 0,
    'otela_request_first_byte_seconds_bucket{service="llm",le="0.025"}': 1,
    'otela_request_first_byte_seconds_bucket{service="llm",le="+Inf"}': 1,
    'otela_request_duration_seconds_bucket{service="llm",le="1"}': 0,
    'otela_request_duration_seconds_bucket{service="llm",le="2.5"}': 1,
    'otela_request_duration_seconds_sum{service="llm"}': 1.02,
    'otela_routing_request_duration_seconds_count{service="llm"}': 1,
  };
  for (const [key, value] of Object.entries(expected)) equal(values.get(key), value, key);
});

Deno.test("createNodeMetrics has buckets up to ten minutes, for language models", async () => {
  const { meter, text, advance } = metrics();
  for (const durationMs of [5, 599_000, 700_000]) {
    const token = meter.started("llm");
    advance(durationMs);
    token.finished("ok", worker, 1, 200);
  }
  const values = parse(await text());
  const bucket = (le: string) =>
    values.get(`otela_request_duration_seconds_bucket{service="llm",le="${le}"}`);
  deepEqual([bucket("0.005"), bucket("300"), bucket("600"), bucket("+Inf")], [1, 1, 2, 3]);
});

Deno.test("createNodeMetrics never makes a label of what a client typed or nobody admitted", async () => {
  const { meter, text } = metrics();
  for (const name of ['junk"} 1\nevil', "other-1", "other-2"]) {
    meter.started(name).finished("no_candidate", parsePeerId(`12D3KooW${"C".repeat(44)}`), 1, 503);
  }
  const printed = await text();
  ok(!printed.includes("junk") && !printed.includes("other-1") && !printed.includes("CCCC"));
  equal(
    parse(printed).get(
      'otela_requests_total{service="unknown",outcome="no_candidate",worker="unknown"}',
    ),
    3,
  );
});

Deno.test("createNodeMetrics keeps a bounded number of services, however many are offered", async () => {
  const { meter, text } = metrics({ services: () => true });
  for (let index = 0; index < serviceSeriesMax * 3; index++) {
    meter.started(`s${index}`).finished("ok", worker, 1, 200);
  }
  const values = parse(await text());
  const services = [...values.keys()].filter((key) =>
    key.startsWith("otela_request_attempts_total")
  );
  equal(services.length, serviceSeriesMax + 1);
  equal(values.get('otela_request_attempts_total{service="other"}'), serviceSeriesMax * 2);
  const sum = [...values].filter(([key]) => key.startsWith("otela_requests_in_flight"))
    .reduce((total, [, value]) => total + value, 0);
  equal(sum, 0);
});

Deno.test("createNodeMetrics reads the parts of the node when asked, and escapes their words", async () => {
  const { meter, text } = metrics();
  meter.refused("unauthorized");
  const values = parse(await text());
  equal(values.get('otela_build_info{version="0.1.0",role="head"}'), 1);
  equal(values.get("otela_registry_claims"), 3);
  equal(values.get('otela_registry_refusals_total{reason="forged"}'), 2);
  equal(values.get("otela_network_peers_connected"), 2);
  equal(values.get("otela_network_peers_total"), 3);
  equal(values.get('otela_membership_peers{status="left"}'), 1);
  equal(values.get("otela_lane_exchanges_open"), 5);
  equal(values.get("otela_lane_unsent_bytes"), 9);
  equal(values.get("otela_engine_calls_open"), 4);
  equal(values.get("otela_engine_pool_connections"), 6);
  equal(values.get("otela_engine_pool_waiting"), 1);
  equal(values.get("otela_requests_waiting"), 7);
  equal(values.get("otela_engines_resting"), 8);
  equal(values.get('otela_requests_refused_total{code="unauthorized"}'), 1);
  ok(!values.has("otela_mesh_connections"), "a part that is absent shows nothing");
});

Deno.test("createNodeMetrics keeps two nodes of one process apart", async () => {
  const [first, second] = [metrics(), metrics()];
  first.meter.started("llm").finished("ok", worker, 1, 200);
  ok((await first.text()).includes(worker));
  ok(!(await second.text()).includes(worker));
});
