import { deepEqual, equal, match, ok } from "node:assert/strict";
import { decodeText } from "../../../lib/config/decode_text.ts";
import { describeKeys, showValue } from "../../../lib/config/describe.ts";
import { configFlags } from "../../../lib/config/flags.ts";
import { keyHeadings } from "../../../lib/config/key_heading.ts";
import { envNameOf } from "../../../lib/config/key.ts";
import { keyNamed, schema } from "../../../lib/config/schema.ts";

const base = { directory: "/srv/run", home: "/home/ada" };

/** Every key of the original (reference, sections 2.1 to 2.10). */
const originalKeys = `config_dir name seed mode role component subprocess cleanslate datadir path
  loglevel log_level production_logging debug port tcpport udpport wsport ws_domain public-addr reachability
  p2p.port queue.port vacuum.interval bootstrap.sources bootstrap.source bootstrap.static bootstrap.addrs
  bootstrap.addr service.name service.port service.health_path service.health_interval
  service.health_failures service.identity_group crdt.tombstone_retention
  crdt.tombstone_compaction_interval crdt.tombstone_compaction_batch crdt.tuned_gossipsub_d
  crdt.tuned_gossipsub_dlo crdt.tuned_gossipsub_dhi crdt.tuned_rebroadcast_interval crdt.tuned_workers
  scalability.swim_enabled scalability.crdt_tuned scalability.weighted_routing
  scalability.admission_control scalability.expected_workers swim.probe_interval swim.probe_timeout
  swim.indirect_probe_timeout swim.indirect_probes swim.suspect_timeout swim.retransmit_mult
  swim.metadata_max_bytes liveness.enforce lb-policy routing.retry_enabled routing.max_retries
  routing.max_response_buffer_bytes metrics.aggregation_enabled metrics.scrape_interval_seconds
  metrics.scrape_timeout_seconds metrics.worker_metrics_path metrics.max_concurrent_scrapes
  observability.timing_headers admin.enabled admin.port admin.bind analytics.enabled
  analytics.posthog_api_key analytics.posthog_host analytics.flush_interval_seconds
  analytics.parse_usage_body analytics.max_latency_samples ingest.url ingest.port wallet.account
  account.wallet account.token account.email account.password account.api_url account.neon_auth_url
  solana.rpc solana.rpc_endpoint solana.mint solana.skip_verification otela_token.mint_address
  otela_token.decimals billing.enabled billing.value_threshold billing.max_interval_minutes
  billing.dispute_threshold_pct rates.default_per_1000_tokens rates.default_per_gpu_ms rates.config_path
  security.require_signed_binary security.auth_url security.control_plane.url
  security.control_plane.token security.control_plane.timeout security.control_plane.cache_ttl
  security.control_plane.stale_if_error security.access_control.policy security.access_control.whitelist
  security.access_control.blacklist security.rate_limit.enabled security.rate_limit.requests_per_second
  security.rate_limit.burst trusted_wallets`.split(/\s+/);

/** Every flag of the original's `start` (reference, section 3.1) and its global ones. */
const originalFlags =
  `config config-dir wallet.account account.wallet bootstrap.addr bootstrap.source
  bootstrap.static seed mode tcpport udpport subprocess public-addr service.name service.port
  service.health_path service.health_interval service.health_failures solana.rpc solana.mint
  solana.skip_verification lb-policy cleanslate role admin.enabled admin.port admin.bind
  analytics.enabled analytics.posthog_api_key analytics.posthog_host component ingest-url`.split(
    /\s+/,
  );

Deno.test("schema knows every key of the original", () => {
  deepEqual(originalKeys.filter((name) => keyNamed(name) === undefined), []);
});

Deno.test("schema knows every flag of the original", () => {
  const names = new Set(configFlags.map(({ name }) => name));
  deepEqual(originalFlags.filter((name) => !names.has(name)), []);
});

Deno.test("schema gives each name, variable and flag to one key", () => {
  const names = schema.flatMap((row) => [row.name, ...row.aliases]);
  equal(new Set(names).size, names.length);
  const owners = new Map<string, string>();
  for (const row of schema) {
    for (const variable of [row.name, ...row.aliases].map(envNameOf)) {
      equal(owners.get(variable) ?? row.name, row.name, variable);
      owners.set(variable, row.name);
    }
  }
  equal(new Set(configFlags.map(({ flag }) => flag)).size, configFlags.length);
});

Deno.test("schema has only variables that a shell can export", () => {
  for (const row of schema) match(row.env, /^OF_[A-Z0-9_]+$/);
});

Deno.test("schema has a help line and a source for each default", () => {
  for (const { help, source, name } of schema) {
    ok(source !== "" && /^[A-Z]|^network|^standalone/.test(help) && !help.endsWith("."), name);
    ok(help.length <= 72, name);
  }
});

Deno.test("showValue writes each default so that it reads back as itself", () => {
  for (const row of schema) {
    if (row.kind === "services" || row.isSecret || row.default === null) continue;
    const text = showValue(row, row.default);
    if (text === "") continue;
    const decoded = decodeText(row, text, base);
    ok(decoded.ok, row.name);
    equal(JSON.stringify(decoded.value), JSON.stringify(row.default), row.name);
  }
});

Deno.test("describeKeys says which keys do nothing and which are refused", () => {
  const of = new Map(describeKeys().map((row) => [row.key, row]));
  equal(of.get("port")?.status, "implemented");
  equal(of.get("udpport")?.status, "not yet");
  equal(of.get("queue.port")?.status, "no effect");
  equal(of.get("security.rate_limit.enabled")?.status, "not yet; refused when set");
  equal(of.get("subprocess")?.status, "not yet; refused when set");
  equal(of.get("limits.head_timeout")?.default, "15m");
  equal(of.get("body.scan_bytes_max")?.default, "8MiB");
});

Deno.test("describeKeys puts what does something, what does not, and what is refused under headings", () => {
  for (const { heading, status } of describeKeys()) {
    const isIdle = heading === "Without effect" || heading === "Refused";
    equal(isIdle, status !== "implemented", heading);
    ok(keyHeadings.includes(heading));
  }
});
