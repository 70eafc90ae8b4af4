// Which keys describe a service? The same ones describe an entry of `services`.
import { hourMs, secondMs } from "../base/units.ts";
import { type ConfigKey, key } from "./key.ts";

/** `service.*` describes one service; the list `services` any number, with the same names. */
export const serviceKeys: readonly ConfigKey[] = [
  key("service.name", "string", null, "reference", "Name by which clients call the service", {
    flag: true,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/,
    mustBe: "1 to 80 letters, digits, dots, dashes or underscores",
  }),
  key("service.port", "int", null, "reference", "Port of the engine on service.host", {
    flag: true,
    min: 1,
    max: 65_535,
  }),
  key("service.host", "string", "127.0.0.1", "guess: localhost may be ::1", "Host of the engine", {
    flag: true,
    pattern: /^[A-Za-z0-9.:_-]{1,253}$/,
    mustBe: "an IP address or a host name",
  }),
  key("service.url", "string", null, "guess", "URL of the engine, in place of host and port", {
    flag: true,
  }),
  key("service.socket", "path", null, "guess", "Unix socket of the engine, in place of a port", {
    flag: true,
  }),
  key("service.health_path", "string", "/health", "reference", "Answers 2xx when it can serve", {
    flag: true,
  }),
  key(
    "service.health_interval",
    "duration",
    2 * secondMs,
    "guess: change seen in 5 s",
    "Between two checks",
    { flag: true, min: 50, max: hourMs },
  ),
  key("service.health_failures", "int", 3, "reference", "Failed checks until it is withdrawn", {
    flag: true,
    min: 1,
    max: 1_000,
  }),
  key("service.identity_group", "list", [], "reference", "Groups besides the models found", {
    flag: true,
    aliases: ["service.identity_groups"],
    pattern: /^(?=.{1,512}$)(all|[^=\s]+=\S.*)$/,
    mustBe: `"all", "key=*" or "key=value" each`,
  }),
  key("service.upstream_key", "string", null, "protocol §6", "API key that the engine wants", {
    isSecret: true,
  }),
  key(
    "service.upstream_key_file",
    "path",
    null,
    "protocol §6",
    "File whose first line is the key",
    {
      flag: true,
    },
  ),
  key("service.upstream_headers", "map", {}, "guess", "Headers added for the engine", {
    isSecret: true,
  }),
  key("service.allow", "list", ["network"], "protocol §5", "network, or PeerIds that may call", {
    flag: true,
  }),
  key("service.retry", "string", "safe", "design §6", "Whether a request may run twice", {
    flag: true,
    choices: ["safe", "never"],
  }),
  key("service.capacity", "int", 0, "guess", "Requests it runs at once; 0 when unknown", {
    flag: true,
    max: 1_000_000,
  }),
  key(
    "service.model_refresh",
    "duration",
    2 * secondMs,
    "guess: change seen in 5 s",
    "Between two looks at the models",
    { flag: true, min: 50, max: hourMs },
  ),
  key("service.engine", "string", null, "guess: detected", "Kind of engine, when detection errs", {
    flag: true,
    pattern: /^[A-Za-z0-9._-]{1,40}$/,
    mustBe: "1 to 40 letters, digits, dots, dashes or underscores",
  }),
  key(
    "service.engine_continues",
    "bool",
    null,
    "guess: detected",
    "Can go on with half an answer",
    {
      flag: true,
    },
  ),
];
