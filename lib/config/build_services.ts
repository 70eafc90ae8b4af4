// Which services does the configuration describe?
import { httpToken } from "../base/header_list.ts";
import { isPeerId, type PeerId } from "../base/peer_id.ts";
import type { ServiceValues } from "./key.ts";
import type { ServiceConfig } from "./node_config.ts";
import type { ConfigProblem } from "./problem.ts";
import { serviceKeys } from "./keys_service.ts";
import { type Origin, Settings } from "./settings.ts";

/** First line of a secret's file; `undefined` after adding a problem. */
export type ReadSecret = (path: string, key: string, where: string) => string | undefined;

/**
 * The service of the `service.*` keys, if it has a name, and each entry of `services`.
 * @param problems What cannot work is added here.
 */
export function buildServices(
  settings: Settings,
  readSecret: ReadSecret,
  problems: ConfigProblem[],
): ServiceConfig[] {
  const all = settings.services().map((values) => entrySettings(values, settings));
  const addressed = ["service.port", "service.url", "service.socket"];
  const given = addressed.find((key) => settings.origin(key).value !== null);
  if (settings.optionalText("service.name") !== null) all.unshift(settings);
  else if (given !== undefined) {
    const { where } = settings.origin(given);
    problems.push({ where, key: given, message: "needs service.name beside it" });
  }
  const seen = new Set<string>();
  return all.map((one) => {
    const service = buildService(one, readSecret, problems);
    if (seen.has(service.name)) {
      const { where } = one.origin("service.name");
      const message = `must differ between services: "${service.name}" is given twice`;
      problems.push({ where, key: "service.name", message });
    }
    seen.add(service.name);
    return service;
  });
}

/** An entry of the list as settings: its own values over the defaults, never over `service.*`. */
function entrySettings(values: ServiceValues, settings: Settings): Settings {
  const list = settings.origin("services");
  const origins = serviceKeys.map((row): [string, Origin] => {
    const placed = values.get(row.name);
    return placed === undefined
      ? [row.name, { ...list, value: row.default, source: "default" }]
      : [row.name, { ...list, ...placed }];
  });
  return new Settings(new Map(origins));
}

function buildService(
  settings: Settings,
  readSecret: ReadSecret,
  problems: ConfigProblem[],
): ServiceConfig {
  const path = settings.optionalText("service.health_path") ?? "/health";
  return {
    name: settings.optionalText("service.name") ?? "",
    ...buildAddress(settings, problems),
    healthPath: path.startsWith("/") ? path : `/${path}`,
    healthIntervalMs: settings.number("service.health_interval"),
    healthFailures: settings.number("service.health_failures"),
    identityGroups: [...new Set(settings.list("service.identity_group"))],
    upstreamKey: buildUpstreamKey(settings, readSecret, problems),
    upstreamHeaders: buildHeaders(settings, problems),
    allow: buildAllow(settings, problems),
    retry: settings.text("service.retry") as ServiceConfig["retry"],
    capacity: settings.number("service.capacity"),
    modelRefreshMs: settings.number("service.model_refresh"),
    engine: {
      kind: settings.optionalText("service.engine"),
      continues: settings.optionalBool("service.engine_continues"),
    },
  };
}

function buildAddress(
  settings: Settings,
  problems: ConfigProblem[],
): Pick<ServiceConfig, "url" | "socketPath"> {
  const port = settings.optionalNumber("service.port");
  const url = settings.optionalText("service.url");
  const socketPath = settings.optionalText("service.socket");
  if ([port, url, socketPath].filter((given) => given !== null).length !== 1) {
    const { where } = settings.origin("service.name");
    const message = "needs exactly one of service.port, service.url and service.socket";
    problems.push({ where, key: "service.name", message });
  }
  if (url !== null) return { url: buildUrl(url, settings, problems), socketPath: null };
  if (socketPath !== null) return { url: "http://localhost", socketPath };
  const host = settings.text("service.host");
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port ?? 0}`,
    socketPath: null,
  };
}

function buildUrl(text: string, settings: Settings, problems: ConfigProblem[]): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === "" &&
    url.hash === "" && url.username === "" && url.password === "";
  if (!isPlain) {
    const { where } = settings.origin("service.url");
    const message = "must be an http or https URL without user, query and fragment";
    problems.push({ where, key: "service.url", message });
  }
  return text.replace(/\/+$/, "");
}

function buildUpstreamKey(
  settings: Settings,
  readSecret: ReadSecret,
  problems: ConfigProblem[],
): string | null {
  const value = settings.optionalText("service.upstream_key");
  const file = settings.optionalText("service.upstream_key_file");
  if (file === null) return value;
  const { where } = settings.origin("service.upstream_key_file");
  if (value !== null) {
    const message = "cannot stand beside service.upstream_key: remove one";
    problems.push({ where, key: "service.upstream_key_file", message });
  }
  return readSecret(file, "service.upstream_key_file", where) ?? null;
}

/** Header names are tokens and values are visible ASCII (RFC 9110 §5), or a value could add a header. */
function buildHeaders(settings: Settings, problems: ConfigProblem[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(settings.map("service.upstream_headers"))) {
    if (!httpToken.test(name) || !/^[\t\x20-\x7e]*$/.test(value)) {
      const { where } = settings.origin("service.upstream_headers");
      const message = `must hold header names and visible ASCII values: see "${name}"`;
      problems.push({ where, key: "service.upstream_headers", message });
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function buildAllow(settings: Settings, problems: ConfigProblem[]): "network" | PeerId[] {
  const entries = settings.list("service.allow");
  if (entries.length === 1 && entries[0] === "network") return "network";
  const wrong = entries.find((entry) => !isPeerId(entry));
  if (wrong !== undefined) {
    const { where } = settings.origin("service.allow");
    const message = `must be network alone, or PeerIds: got "${wrong.slice(0, 80)}"`;
    problems.push({ where, key: "service.allow", message });
  }
  return entries.filter(isPeerId);
}
