// Which keys of the original load here without doing their work?
import { type ConfigKey, type ConfigValue, key, type KeyKind } from "./key.ts";
import { hourMs, minuteMs, secondMs } from "../base/units.ts";

const reference = "reference";

/** Known, without effect so far: set, it is answered with one warning. */
function later(name: string, kind: KeyKind, value: ConfigValue, help: string): ConfigKey {
  return key(name, kind, value, reference, help, { status: "not_yet", ...flagOf(name) });
}

/** Known, without effect so far, and ignoring it would mislead: set, it stops the start. */
function refused(name: string, kind: KeyKind, value: ConfigValue, help: string): ConfigKey {
  const isSecret = /token|password/.test(name);
  return key(name, kind, value, reference, help, { status: "not_yet", protects: true, isSecret });
}

/** Nothing reads it, for the reason given. */
function dead(name: string, kind: KeyKind, value: ConfigValue, why: string): ConfigKey {
  return key(name, kind, value, reference, why, { status: "dead", ...flagOf(name) });
}

/** Flags of the original that scripts may pass. */
const flagged = new Set(
  `wallet.account account.wallet seed udpport solana.rpc solana.mint solana.skip_verification admin.enabled
  admin.port admin.bind analytics.enabled analytics.posthog_host`.split(/\s+/),
);

function flagOf(name: string): { flag?: true } {
  return flagged.has(name) ? { flag: true } : {};
}

/** Compiled into the original, which writes it into every file. */
const neonAuthUrl =
  "https://ep-empty-water-b13qhokv.neonauth.c-5.eu-central-1.aws.neon.tech/neondb/auth";
const policies = "Who may use this node's services";

/** The rest of the original's keys: every file of a switching user loads. */
export const laterKeys: readonly ConfigKey[] = [
  dead("name", "string", "relay", "Never published, in the original either"),
  dead("seed", "string", "0", "Keys come from the operating system's randomness"),
  dead("path", "string", "", "Never read, in the original either"),
  dead("debug", "bool", false, "Set loglevel instead"),
  dead("p2p.port", "string", "8093", "Never read, in the original either"),
  dead("queue.port", "string", "8094", "Never read, in the original either"),
  dead("vacuum.interval", "int", 10, "Never read, in the original either"),
  dead("swim.metadata_max_bytes", "int", 256, "Never read, in the original either"),
  dead("crdt.tombstone_retention", "duration", 24 * hourMs, "The registry has no tombstones"),
  dead("crdt.tombstone_compaction_interval", "duration", hourMs, "The registry has no tombstones"),
  dead("crdt.tombstone_compaction_batch", "int", 512, "The registry has no tombstones"),
  dead("crdt.tuned_gossipsub_d", "int", 10, "The registry needs no tuning"),
  dead("crdt.tuned_gossipsub_dlo", "int", 4, "The registry needs no tuning"),
  dead("crdt.tuned_gossipsub_dhi", "int", 16, "The registry needs no tuning"),
  dead("crdt.tuned_rebroadcast_interval", "duration", minuteMs, "The registry needs no tuning"),
  dead("crdt.tuned_workers", "int", 16, "The registry needs no tuning"),
  dead("crdt.dag_syncer_timeout", "duration", 30 * secondMs, "The registry fetches no blocks"),
  dead("scalability.swim_enabled", "bool", false, "Always on"),
  dead("scalability.crdt_tuned", "bool", false, "The registry needs no tuning"),
  dead("scalability.weighted_routing", "bool", false, "Set lb-policy instead"),
  dead("liveness.enforce", "bool", true, "Always on"),
  later("scalability.admission_control", "bool", false, "Shed requests at random when overloaded"),
  later("scalability.expected_workers", "int", 0, "Workers that admission control reckons with"),
  dead("swim.probe_interval", "duration", 500, "One second, of any number of nodes"),
  dead(
    "swim.probe_timeout",
    "duration",
    500,
    "Half a second, longer for a node that doubts itself",
  ),
  dead("swim.indirect_probe_timeout", "duration", secondMs, "As that of a direct probe"),
  dead("swim.indirect_probes", "int", 3, "Three"),
  dead(
    "swim.suspect_timeout",
    "duration",
    5 * secondMs,
    "Always 8.6 s by the word of two, 13 s by one",
  ),
  dead("swim.retransmit_mult", "int", 3, "Four, and gossip besides"),
  later("datadir", "string", "", "Folder of the usage records"),
  later("udpport", "int", 59820, "QUIC port of the mesh door"),
  later("wsport", "int", null, "WebSocket port of the mesh door"),
  later("ws_domain", "string", "", "Domain of the WebSocket addresses announced"),
  key("reachability", "string", "", reference, "Whether others can dial this node", {
    status: "not_yet",
    choices: ["", "auto", "public", "private"],
  }),
  later("metrics.aggregation_enabled", "bool", false, "A head collects its workers' metrics"),
  later("metrics.scrape_interval_seconds", "int", 30, "Between two collections"),
  later("metrics.scrape_timeout_seconds", "int", 5, "To a worker's metrics"),
  later("metrics.worker_metrics_path", "string", "/metrics", "Where an engine has its metrics"),
  later("metrics.max_concurrent_scrapes", "int", 10, "Collections at once"),
  later("observability.timing_headers", "bool", false, "Headers that tell where time went"),
  later("admin.enabled", "bool", false, "The benchmark listener of the original"),
  later("admin.port", "string", "8093", "Its port"),
  later("admin.bind", "string", "127.0.0.1", "Its address"),
  later("analytics.enabled", "bool", false, "Send usage statistics"),
  key("analytics.posthog_api_key", "string", "", reference, "Key for sending them", {
    status: "not_yet",
    flag: true,
    isSecret: true,
  }),
  later("analytics.posthog_host", "string", "https://us.i.posthog.com", "Where they go"),
  later("analytics.flush_interval_seconds", "int", 60, "Between two sendings"),
  later("analytics.parse_usage_body", "bool", true, "Read usage from answers"),
  later("analytics.max_latency_samples", "int", 512, "Latencies kept"),
  key("ingest.url", "string", "http://localhost:8081", reference, "The telemetry server", {
    status: "not_yet",
    flag: "--ingest-url",
  }),
  later("ingest.port", "string", "8081", "Port of the telemetry server"),
  key("component", "string", "server", reference, "Which of the original's servers to run", {
    status: "not_yet",
    protects: true,
    flag: true,
    choices: ["server", "ingress", "all"],
  }),
  key("subprocess", "string", "", reference, "Command that the node starts as its engine", {
    status: "not_yet",
    protects: true,
    flag: true,
  }),
  later("wallet.account", "string", "", "Public key of the wallet that owns this node"),
  later("account.wallet", "string", "", "Wallet file"),
  later("account.email", "string", "", "Cloud account"),
  later("account.api_url", "string", "https://api.opentela.ai", "Cloud account"),
  later("account.neon_auth_url", "string", neonAuthUrl, "Cloud account"),
  key("account.token", "string", "", reference, "Cloud account", {
    status: "not_yet",
    isSecret: true,
  }),
  key("account.password", "string", "", reference, "Cloud account", {
    status: "not_yet",
    isSecret: true,
  }),
  later("solana.rpc", "string", "https://api.mainnet-beta.solana.com", "Solana endpoint"),
  later("solana.rpc_endpoint", "string", "", "Solana endpoint for settlement"),
  later("solana.mint", "string", "EsmcTrdLkFqV3mv4CjLF3AmCx132ixfFSYYRWD78cDzR", "Token"),
  later("solana.skip_verification", "bool", false, "Do not check who holds the token"),
  later("otela_token.mint_address", "string", "", "Token for settlement"),
  later("otela_token.decimals", "int", 0, "Decimals of that token"),
  refused("billing.enabled", "bool", false, "Record usage for payment"),
  refused("billing.value_threshold", "int", 10_000_000, "Settle from this value on"),
  refused("billing.max_interval_minutes", "int", 60, "Settle at least this often"),
  refused("billing.dispute_threshold_pct", "int", 10, "Differences that are disputed"),
  refused("rates.default_per_1000_tokens", "int", 0, "Price"),
  refused("rates.default_per_gpu_ms", "int", 0, "Price"),
  refused("rates.config_path", "string", "", "File of prices"),
  refused("security.require_signed_binary", "bool", true, "Accept only peers with signed builds"),
  refused("security.auth_url", "string", "", "Service that checks client keys"),
  refused("security.control_plane.url", "string", "", "Service that decides on access"),
  refused("security.control_plane.token", "string", "", "Token for that service"),
  refused("security.control_plane.timeout", "duration", 5 * secondMs, "To its answer"),
  refused("security.control_plane.cache_ttl", "duration", minuteMs, "How long it is remembered"),
  refused(
    "security.control_plane.stale_if_error",
    "duration",
    2 * minuteMs,
    "The same, on failure",
  ),
  refused("security.access_control.policy", "string", "any", policies),
  refused("security.access_control.whitelist", "list", [], policies),
  refused("security.access_control.blacklist", "list", [], policies),
  refused("security.rate_limit.enabled", "bool", false, "Limit requests of each client"),
  refused("security.rate_limit.requests_per_second", "float", 100, "Requests of each client"),
  refused("security.rate_limit.burst", "int", 200, "Requests of each client at once"),
  refused("trusted_wallets", "list", [], "Wallets whose peers are trusted more"),
];
