// Which figures are read only when somebody asks for the metrics?
import { type Family, type FamilySnapshot, labelCharactersMax } from "./series_family.ts";

/** Figures of one part of the node at this moment. Names of reasons come from our own code, never from a peer. */
export type MetricSources = {
  /** Set once at start. */
  readonly build: { readonly version: string; readonly role: string };
  readonly process?: () => { readonly residentBytes: number; readonly startedAtUnixS: number };
  readonly registry?: () => {
    readonly claims: number;
    readonly claimBytes: number;
    readonly refusals: Readonly<Record<string, number>>;
  };
  readonly mesh?: () => {
    readonly connections: number;
    readonly refusals: Readonly<Record<string, number>>;
  };
  readonly membership?: () => { readonly refusals: Readonly<Record<string, number>> };
  /** Peers by status: `alive`, `suspect`, `left`. */
  readonly peers?: () => Readonly<Record<string, number>>;
  readonly lanes?: () => {
    readonly open: number;
    readonly exchanges: number;
    readonly unsentBytes: number;
    readonly windowBytes: number;
  };
  /** Connections to local engines. */
  readonly pool?: () => {
    readonly calls: number;
    readonly connections: number;
    readonly waiting: number;
  };
  readonly routing?: () => { readonly waiting: number; readonly restingEngines: number };
};

/** Reasons that are shown of one source; a source with more is a fault of ours, not of a peer. */
const reasonsMax = 64;

type Values = FamilySnapshot["values"];

function family(
  name: string,
  type: "counter" | "gauge",
  help: string,
  values: () => Values,
): Family {
  return { name, get: () => ({ name, help, type, values: values(), aggregator: "sum" }) };
}

function single(value: number | undefined): Values {
  return value === undefined ? [] : [{ labels: {}, value }];
}

function byLabel(label: string, figures: Readonly<Record<string, number>> | undefined): Values {
  return Object.entries(figures ?? {}).slice(0, reasonsMax)
    .map(([name, value]) => ({ labels: { [label]: name.slice(0, labelCharactersMax) }, value }));
}

/** The families whose values are pulled from the parts at scrape time; a part that is absent shows none. */
export function sourceFamilies(sources: MetricSources): readonly Family[] {
  const { build, process, registry, mesh, membership, peers, lanes, pool, routing } = sources;
  const peerCount = () => {
    const counts = peers?.();
    return counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  };
  return [
    family(
      "otela_build_info",
      "gauge",
      "The running build; always 1",
      () => [{ labels: { ...build }, value: 1 }],
    ),
    family(
      "process_resident_memory_bytes",
      "gauge",
      "Resident memory of the process",
      () => single(process?.().residentBytes),
    ),
    family(
      "process_start_time_seconds",
      "gauge",
      "Start of the process since the Unix epoch",
      () => single(process?.().startedAtUnixS),
    ),
    family(
      "otela_registry_claims",
      "gauge",
      "Claims held, this node's own included",
      () => single(registry?.().claims),
    ),
    family(
      "otela_registry_claim_bytes",
      "gauge",
      "Bytes of the claims held",
      () => single(registry?.().claimBytes),
    ),
    family(
      "otela_registry_refusals_total",
      "counter",
      "Envelopes that were not accepted, by reason",
      () => byLabel("reason", registry?.().refusals),
    ),
    family(
      "otela_mesh_connections",
      "gauge",
      "Open connections to peers",
      () => single(mesh?.().connections),
    ),
    family(
      "otela_mesh_refusals_total",
      "counter",
      "Connections and streams that were refused, by reason",
      () => byLabel("reason", mesh?.().refusals),
    ),
    family(
      "otela_membership_refusals_total",
      "counter",
      "Statements about peers that were not believed, by reason",
      () => byLabel("reason", membership?.().refusals),
    ),
    family(
      "otela_membership_peers",
      "gauge",
      "Known peers by status",
      () => byLabel("status", peers?.()),
    ),
    family(
      "otela_network_peers_connected",
      "gauge",
      "Peers that are alive (name of the reference)",
      () => single(peers?.()["alive"]),
    ),
    family(
      "otela_network_peers_total",
      "gauge",
      "Peers in the table (name of the reference)",
      () => single(peerCount()),
    ),
    family("otela_lanes_open", "gauge", "Lanes to and from peers", () => single(lanes?.().open)),
    family(
      "otela_lane_exchanges_open",
      "gauge",
      "Exchanges open on lanes",
      () => single(lanes?.().exchanges),
    ),
    family(
      "otela_lane_unsent_bytes",
      "gauge",
      "Bytes that lanes hold and have not sent",
      () => single(lanes?.().unsentBytes),
    ),
    family(
      "otela_lane_window_bytes",
      "gauge",
      "Credit given to peers and not yet used",
      () => single(lanes?.().windowBytes),
    ),
    family(
      "otela_engine_calls_open",
      "gauge",
      "Requests that local engines run",
      () => single(pool?.().calls),
    ),
    family(
      "otela_engine_pool_connections",
      "gauge",
      "Connections to local engines",
      () => single(pool?.().connections),
    ),
    family(
      "otela_engine_pool_waiting",
      "gauge",
      "Requests that wait for a connection to a local engine",
      () => single(pool?.().waiting),
    ),
    family(
      "otela_requests_waiting",
      "gauge",
      "Requests that wait for a worker with a free place",
      () => single(routing?.().waiting),
    ),
    family(
      "otela_engines_resting",
      "gauge",
      "Engines of any peer that keep failing and are not asked now",
      () => single(routing?.().restingEngines),
    ),
  ];
}
