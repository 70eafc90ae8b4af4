// Which keys say what a node is, where its doors are and what it bears?
import { GiB, hourMs, MiB, minuteMs, secondMs } from "../base/units.ts";
import { type ConfigKey, key } from "./key.ts";

const portMax = 65_535;
/** A name that is part of protocol names and file names. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const plainNameWords = "1 to 64 letters, digits, dots, dashes or underscores";

/** Role, places, network, doors, routing, limits, registry and log. */
export const nodeKeys: readonly ConfigKey[] = [
  key("config", "path", null, "reference", "Read this configuration file", {
    flag: true,
    isInFile: false,
  }),
  key("config_dir", "path", null, "reference", "Folder of cfg.yaml and of keys/id", {
    flag: "--config-dir",
  }),
  key("state_dir", "path", null, "protocol §8", "Folder for everything a node writes", {
    flag: "--state-dir",
  }),
  key("instance", "string", null, "protocol §8", "Name of this node among those of one user", {
    flag: true,
    pattern: plainName,
    mustBe: plainNameWords,
  }),
  key("role", "string", "worker", "reference", "What the node is for", {
    flag: true,
    choices: ["head", "worker", "relay"],
  }),
  key(
    "mode",
    "string",
    "node",
    "reference",
    "standalone: alone; local: bootstrap on this machine",
    {
      flag: true,
      choices: ["standalone", "local", "node", "full"],
    },
  ),
  key(
    "network.name",
    "string",
    "opentela",
    "protocol §1",
    "Name that separates meshes, no secret",
    {
      flag: "--network",
      aliases: ["network"],
      pattern: plainName,
      mustBe: plainNameWords,
    },
  ),
  key("network.secret", "string", null, "protocol §1", "Shared secret that closes the mesh", {
    isSecret: true,
  }),
  key("network.secret_file", "path", null, "protocol §1", "File whose first line is the secret", {
    flag: true,
  }),
  key("labels", "map", {}, "reference fleet.md", "Labels in this node's claim, as key=value", {
    flag: "--label",
  }),
  key("port", "int", 8092, "reference", "Port of the client door; 0 takes any free one", {
    flag: true,
    max: portMax,
  }),
  key("host", "string", null, "protocol §7", "Address of the client door; by role when not set", {
    flag: true,
    pattern: /^[A-Za-z0-9.:_-]{1,253}$/,
    mustBe: "an IP address or a host name",
  }),
  key("client.keys", "path", null, "protocol §7", "File of SHA-256 hashes of client keys", {
    flag: true,
  }),
  key("client.cors_origins", "list", [], "guess", "Web origins that may call the client door", {
    flag: true,
  }),
  key("lb-policy", "string", "p2c", "design §6", "How one of several candidates is chosen", {
    flag: true,
    choices: ["p2c", "prefix", "random", "round-robin", "shortest-queue"],
    aliases: ["lb_policy"],
  }),
  key("routing.retry_enabled", "bool", true, "reference", "Try another worker when one fails", {
    flag: true,
  }),
  key("routing.max_retries", "int", 3, "reference", "Attempts after the first", {
    flag: true,
    max: 16,
  }),
  key(
    "routing.max_response_buffer_bytes",
    "bytes",
    8 * MiB,
    "protocol §6",
    "Answer held back so that a dying worker is retried unseen",
    { flag: true, max: GiB },
  ),
  key("body.scan_bytes_max", "bytes", 8 * MiB, "protocol §6", "Body searched for the model", {
    aliases: ["body.scanbytesmax"],
    max: GiB,
  }),
  key("body.bytes_max", "bytes", 2 * GiB, "protocol §6", "Largest request body", {
    aliases: ["body.bytesmax"],
    max: 1024 * GiB,
  }),
  key("body.replay_bytes_max", "bytes", 8 * MiB, "protocol §6", "Request body kept for a retry", {
    aliases: ["body.replaybytesmax"],
    max: GiB,
  }),
  key("limits.connect_timeout", "duration", 5 * secondMs, "guess", "To connect to an engine", {
    min: 1,
  }),
  key(
    "limits.head_timeout",
    "duration",
    15 * minuteMs,
    "guess: models think for minutes",
    "To the head of an engine's answer",
    { min: 1 },
  ),
  key("limits.idle_timeout", "duration", 5 * minuteMs, "guess", "Between two pieces of an answer", {
    min: 1,
  }),
  key("limits.exchanges_max", "int", 8192, "guess", "Requests that this node runs at once", {
    min: 1,
    max: 1_000_000,
  }),
  key(
    "drain.deadline",
    "duration",
    20 * secondMs,
    "Slurm and Kubernetes kill 30 s after TERM",
    "How long running requests may go on after a stop",
    { flag: true, max: hourMs },
  ),
  key(
    "registry.lease",
    "duration",
    3 * hourMs,
    "protocol §2",
    "How long a claim outlives its node",
    {
      min: minuteMs,
      max: 24 * hourMs,
    },
  ),
  key(
    "registry.lease_ephemeral",
    "duration",
    10 * minuteMs,
    "protocol §8",
    "The same inside Slurm",
    {
      min: minuteMs,
      max: 24 * hourMs,
    },
  ),
  key("cleanslate", "bool", true, "reference", "Start without the registry's snapshot", {
    flag: true,
  }),
  key("loglevel", "string", "info", "reference", "Least severe record that is logged", {
    flag: "--log-level",
    aliases: ["log_level"],
    choices: ["debug", "info", "warn", "error", "-1", "0", "1", "2"],
  }),
  key(
    "log.requests",
    "string",
    "failed",
    "ours",
    "Which client requests are logged, one line each",
    {
      flag: "--log-requests",
      choices: ["all", "failed", "none"],
    },
  ),
  key("log.json", "bool", false, "reference", "One JSON object per log record", {
    flag: "--log-json",
    aliases: ["production_logging"],
  }),
];
