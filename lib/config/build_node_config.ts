// What do the values of all keys mean together?
import { isIP } from "node:net";
import { isPeerId } from "../base/peer_id.ts";
import type { LogLevel } from "../base/ports.ts";
import { buildServices, type ReadSecret } from "./build_services.ts";
import { expandPath } from "./decode_text.ts";
import type {
  LogConfig,
  MeshConfig,
  NetworkConfig,
  NodeConfig,
  RoutingConfig,
} from "./node_config.ts";
import type { ConfigProblem } from "./problem.ts";
import type { Settings } from "./settings.ts";

/** The levels of the original's loggers, which may stand in files as numbers. */
const levelOfNumber: Record<string, LogLevel> = {
  "-1": "debug",
  "0": "info",
  "1": "warn",
  "2": "error",
};

/**
 * The slices of the node's parts.
 * @param problems What is wrong between keys is added here; the result is then not to be used.
 */
export function buildNodeConfig(
  settings: Settings,
  home: string | null,
  readSecret: ReadSecret,
  problems: ConfigProblem[],
): NodeConfig {
  const level = settings.text("loglevel");
  return {
    role: settings.text("role") as NodeConfig["role"],
    mode: settings.text("mode") as NodeConfig["mode"],
    network: buildNetwork(settings, readSecret, problems),
    doors: {
      httpHost: settings.optionalText("host"),
      httpPort: settings.number("port"),
      httpPortIsExplicit: settings.isExplicit("port"),
      clientKeysFile: settings.optionalText("client.keys"),
      corsOrigins: settings.list("client.cors_origins"),
    },
    mesh: buildMesh(settings, home, problems),
    services: buildServices(settings, readSecret, problems),
    routing: {
      policy: settings.text("lb-policy") as RoutingConfig["policy"],
      retryEnabled: settings.bool("routing.retry_enabled"),
      retriesMax: settings.number("routing.max_retries"),
      maxResponseBufferBytes: settings.number("routing.max_response_buffer_bytes"),
      continuationsMax: settings.number("routing.continuations_max"),
      noContinuation: settings.list("routing.no_continuation"),
      noHold: settings.list("routing.no_hold"),
      weights: buildWeights(settings, problems),
      queueMax: settings.number("routing.queue_max"),
      queueWaitMs: settings.number("routing.queue_wait"),
      keepAliveMs: settings.number("routing.keep_alive"),
    },
    limits: {
      body: {
        scanBytesMax: settings.number("body.scan_bytes_max"),
        bytesMax: settings.number("body.bytes_max"),
      },
      replayBytesMax: settings.number("body.replay_bytes_max"),
      connectTimeoutMs: settings.number("limits.connect_timeout"),
      headTimeoutMs: settings.number("limits.head_timeout"),
      idleTimeoutMs: settings.number("limits.idle_timeout"),
      firstTokenTimeoutMs: settings.number("limits.first_token_timeout"),
      totalTimeoutMs: settings.number("limits.total_timeout"),
      bodyTimeoutMs: settings.number("limits.body_timeout"),
      exchangesMax: settings.number("limits.exchanges_max"),
      drainMs: settings.number("drain.deadline"),
    },
    registry: {
      leaseMs: settings.number("registry.lease"),
      leaseEphemeralMs: settings.number("registry.lease_ephemeral"),
      cleanslate: settings.bool("cleanslate"),
    },
    log: {
      level: levelOfNumber[level] ?? level as LogLevel,
      json: settings.bool("log.json"),
      requests: settings.text("log.requests") as LogConfig["requests"],
    },
    state: {
      root: settings.optionalText("state_dir"),
      configDir: settings.optionalText("config_dir"),
      instance: settings.optionalText("instance"),
    },
    labels: settings.map("labels"),
  };
}

function buildNetwork(
  settings: Settings,
  readSecret: ReadSecret,
  problems: ConfigProblem[],
): NetworkConfig {
  const name = settings.text("network.name");
  const file = settings.optionalText("network.secret_file");
  const secret = settings.optionalText("network.secret");
  if (file === null) return { name, secret };
  const { where } = settings.origin("network.secret_file");
  if (secret !== null) {
    const message = "cannot stand beside network.secret: remove one";
    problems.push({ where, key: "network.secret_file", message });
  }
  return { name, secret: readSecret(file, "network.secret_file", where) ?? null };
}

function buildMesh(
  settings: Settings,
  home: string | null,
  problems: ConfigProblem[],
): MeshConfig {
  const check = (key: string, isRight: (entry: string) => boolean, mustBe: string) => {
    const entries = settings.list(key);
    const wrong = entries.find((entry) => !isRight(entry));
    if (wrong !== undefined) {
      const message = `must hold ${mustBe}: got "${wrong.slice(0, 80)}"`;
      problems.push({ where: settings.origin(key).where, key, message });
    }
    return entries;
  };
  const hosts = check("mesh.hosts", (host) => isIP(host) !== 0, "IP addresses");
  const tcpPort = settings.number("tcpport");
  const isHub = settings.text("role") !== "worker";
  return {
    hosts,
    tcpPort,
    tcpPortIsExplicit: settings.isExplicit("tcpport"),
    listen: hosts.map((host) => `/ip${isIP(host)}/${host}/tcp/${tcpPort}`),
    publicAddr: settings.optionalText("public-addr"),
    announce: check("mesh.announce", (address) => address.startsWith("/"), "multiaddrs"),
    announceFilter: check("mesh.announce_filter", isCidr, "networks such as 10.0.0.0/8"),
    bootstrap: buildBootstrap(settings, home),
    bootstrapFileWrite: settings.optionalText("bootstrap.write"),
    deny: check("peers.deny", isBase58Name, "PeerIds and wallets"),
    // design §3: a head or relay sees the whole mesh, a worker those who use it.
    connectionsMax: settings.optionalNumber("mesh.connections_max") ?? (isHub ? 20_000 : 1_000),
  };
}

function buildWeights(settings: Settings, problems: ConfigProblem[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const [peer, text] of Object.entries(settings.map("routing.weights"))) {
    const weight = Number(text);
    if (!isPeerId(peer) || !/^\d+(\.\d+)?$/.test(text) || weight > 1_000) {
      const { where } = settings.origin("routing.weights");
      const message = `must hold PeerIds and numbers from 0 to 1000: see "${peer.slice(0, 80)}"`;
      problems.push({ where, key: "routing.weights", message });
    }
    weights.set(peer, weight);
  }
  return weights;
}

function isCidr(text: string): boolean {
  const [address, bits, ...rest] = text.split("/");
  const version = isIP(address);
  const bitsMax = version === 4 ? 32 : 128;
  return version !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits ?? "") &&
    Number(bits) <= bitsMax;
}

function isBase58Name(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{32,64}$/.test(text);
}

/** The original's five keys in its order, each entry once; `file:` entries become absolute. */
function buildBootstrap(settings: Settings, home: string | null): string[] {
  const mode = settings.text("mode");
  if (mode === "standalone") return [];
  const entries = ["sources", "source", "static", "addrs", "addr"].flatMap((last) => {
    const key = `bootstrap.${last}`;
    const { directory } = settings.origin(key);
    return settings.list(key).map((entry) => {
      if (!entry.startsWith("file:")) return entry;
      const path = entry.slice("file:".length).replace(/^\/\/(?=\/)/, "");
      return `file:${expandPath(path, { directory, home }) ?? path}`;
    });
  });
  // Without a PeerId, as in the original; there it could not work, here noise tells who answers.
  if (mode === "local") entries.push("/ip4/127.0.0.1/tcp/43905");
  return [...new Set(entries)];
}
