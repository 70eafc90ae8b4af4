// How do the parts become one node? The only place that constructs adapters.
import type { OtelaError } from "../base/errors.ts";
import type { Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { HelperThreads } from "../config/helper_threads.ts";
import type { NodeConfig } from "../config/node_config.ts";
import type { Places } from "../config/places.ts";
import type { Tools, VersionFacts } from "../config/thread_messages.ts";
import {
  type DoorListener,
  listenForClients,
  listenForOperator,
} from "../gateway/door_listener.ts";
import { nextEpoch } from "../identity/epoch_file.ts";
import { loadOrCreateIdentity } from "../identity/identity_file.ts";
import { hardwareClaimOf } from "../platform/hardware.ts";
import { machineFacts } from "../platform/machine.ts";
import { queryGpus } from "../platform/nvidia_smi_run.ts";
import { type EventListener, listened } from "./events.ts";
import { createLog } from "./log.ts";
import { insideOf, type NodeInside } from "./node_inside.ts";
import { NodeParts } from "./node_parts.ts";
import { sharedAutomerge } from "./shared_claim_loader.ts";

/** Everything a node must be told. Its caller holds the lock of the instance. */
export type NodeOptions = {
  readonly config: NodeConfig;
  readonly places: Places;
  /** For the operator door; nothing is there, in a directory that is private to this user. */
  readonly socketPath: string;
  readonly version: VersionFacts;
  readonly tools: Tools;
  /** Starts the threads that read and compile for it. */
  readonly helpers: HelperThreads;
  /** Takes whole lines of the log. */
  readonly writeLog: (line: string) => void;
  /** Told of what comes and goes: services of this node, and peers. */
  readonly onEvent?: EventListener;
};

/** A node that serves. */
export type Node = {
  readonly peerId: PeerId;
  /** URL of the client door as this host can use it. */
  readonly http: string;
  multiaddrs(): readonly string[];
  readonly socketPath: string;
  readonly inside: NodeInside;
  /** Settles when the node has stopped, by `stop` or by an operator; rejects when it had to end itself. */
  readonly ended: Promise<void>;
  /** Takes nothing new, finishes what runs within `deadlineMs`, then leaves. Idempotent. */
  stop(reason: string, deadlineMs: Ms): void;
};

/**
 * Starts a node: it has joined its mesh, or knows that it is alone, and its doors are open.
 * @throws {OtelaError} `identity_damaged`, `port_busy`, `state_unusable`, `config_invalid`.
 */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { config } = options;
  const log = listened(createLog(config.log, options.writeLog), options.onEvent);
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {}); // Nobody may be waiting.
  let stopping: Promise<void> | undefined;

  async function finish(error?: OtelaError): Promise<void> {
    await parts.close();
    if (error) ended.reject(error);
    else ended.resolve();
  }

  function stop(reason: string, deadlineMs: Ms): void {
    stopping ??= (async () => {
      log.info("node.stopping", { reason, deadlineMs });
      await parts.drain(deadlineMs);
      await finish();
    })();
  }

  const parts = await startParts(options, {
    log,
    mustEnd: (error) => void finish(error),
    stop: () => stop("operator", config.limits.drainMs),
  });
  try {
    const client = await openDoors(options, parts, log);
    queryGpus(options.tools["nvidia-smi"]).then((report) =>
      parts.hardwareFound(hardwareClaimOf(machineFacts(), report))
    );
    await parts.settled();
    const { peerId } = parts.mesh;
    log.info("node.ready", { peer: peerId, http: client.url });
    return {
      peerId,
      http: client.url,
      multiaddrs: () => parts.mesh.multiaddrs(),
      socketPath: options.socketPath,
      inside: insideOf(parts),
      ended: ended.promise,
      stop,
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

async function startParts(
  { config, places, version, helpers }: NodeOptions,
  hooks: { log: Log; mustEnd: (error: OtelaError) => void; stop: () => void },
): Promise<NodeParts> {
  const automerge = sharedAutomerge(helpers);
  automerge.catch(() => {}); // Told where it is awaited.
  const [loaded, next] = await Promise.all([
    loadOrCreateIdentity(places.keyFile),
    nextEpoch(places.epochFile, 0, { nowMs: () => Date.now() }),
  ]);
  for (const message of [...loaded.warnings, ...next.warnings]) {
    hooks.log.warn("identity.warned", { message });
  }
  return await NodeParts.start({
    config,
    places,
    version,
    identity: loaded.identity,
    automerge,
    helpers,
    epoch: next.epoch,
    ...hooks,
  });
}

async function openDoors(
  { config, socketPath }: NodeOptions,
  parts: NodeParts,
  log: Log,
): Promise<DoorListener> {
  const { httpPort: port, httpPortIsExplicit: isPortExplicit } = config.doors;
  const address = { host: parts.httpHost, port, isPortExplicit };
  const client = listenForClients(parts.clientDoor, address);
  if (port !== 0 && client.port !== port) {
    log.warn("door.moved", { wanted: port, port: client.port });
  }
  const operator = await listenForOperator(parts.operatorDoor, socketPath);
  parts.doorsOpened([client, operator], client.url);
  return client;
}
