// Where on this machine does a node keep what it must remember?
import { createHash } from "node:crypto";
import { join } from "node:path";
import { OtelaError } from "../base/errors.ts";
import type { StateConfig } from "./node_config.ts";

/** Every place of one node, all absolute. Nothing is created by naming it. */
export type Places = {
  /** `default`, the name given, or made from the Slurm task. */
  readonly instance: string;
  /** Made for one Slurm task: short lease, removed on a clean exit. */
  readonly isEphemeral: boolean;
  readonly stateRoot: string;
  readonly instanceDir: string;
  readonly keyFile: string;
  /** Beside the key, since it must live as long as the key does. */
  readonly epochFile: string;
  /** All are to be held: one guards the instance's files, the other its key. Often the same. */
  readonly lockDirs: readonly string[];
  readonly snapshotFile: string;
  /** Operator sockets to try in turn, each short enough for the kernel. */
  readonly socketPaths: readonly string[];
  /** Says where the operator socket is, and on which host. */
  readonly socketPointerFile: string;
};

/** What the places depend on. */
export type PlaceFacts = StateConfig & {
  /** Only `XDG_STATE_HOME`, `XDG_RUNTIME_DIR` and `SLURM_…` are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `null` when unknown. */
  readonly home: string | null;
  readonly hostname: string;
  readonly uid: number;
};

/** `sun_path` of Linux holds 108 bytes with the closing zero. */
const socketPathBytesMax = 107;
const instanceCharactersMax = 128;

/**
 * The places of one node. The `default` instance keeps its key where the original has it, so that a switching
 * user keeps the PeerId; every other instance keeps all its own, so that forty tasks on a shared home are
 * forty peers.
 * @throws {OtelaError} `config_invalid` when neither a home nor a directory in its place is known.
 */
export function resolvePlaces(facts: PlaceFacts): Places {
  const slurm = slurmInstance(facts);
  const instance = facts.instance ?? slurm ?? "default";
  const stateRoot = resolveStateRoot(facts);
  const instanceDir = join(stateRoot, "instances", instance);
  const keyDir = instance === "default"
    ? join(facts.configDir ?? join(needHome(facts, "--config-dir"), ".config", "opentela"), "keys")
    : join(instanceDir, "keys");
  return {
    instance,
    isEphemeral: facts.instance === null && slurm !== null,
    stateRoot,
    instanceDir,
    keyFile: join(keyDir, "id"),
    epochFile: join(keyDir, "epoch"),
    lockDirs: [join(instanceDir, "lock"), join(keyDir, "lock")],
    snapshotFile: join(instanceDir, "registry.snapshot"),
    socketPaths: socketPaths(facts, instanceDir),
    socketPointerFile: join(instanceDir, "operator.json"),
  };
}

function resolveStateRoot(facts: PlaceFacts): string {
  if (facts.root !== null) return facts.root;
  const xdg = facts.env.XDG_STATE_HOME;
  // The XDG specification says to ignore a relative path.
  if (xdg?.startsWith("/")) return join(xdg, "opentela");
  return join(needHome(facts, "--state-dir"), ".local", "state", "opentela");
}

function needHome({ home }: PlaceFacts, flag: string): string {
  if (home !== null) return home;
  throw new OtelaError(
    "config_invalid",
    `Cannot tell where to keep the node's files as HOME must be set or ${flag} given: neither is`,
  );
}

/** `<job>-<array task>-<procid>-r<restart>-<host>`; `null` outside Slurm. */
function slurmInstance({ env, hostname }: PlaceFacts): string | null {
  const job = env.SLURM_JOB_ID;
  if (!job) return null;
  const task = env.SLURM_ARRAY_TASK_ID || "0";
  const rank = env.SLURM_PROCID || "0";
  const restart = env.SLURM_RESTART_COUNT || "0";
  const host = hostname.split(".")[0];
  const name = `${job}-${task}-${rank}-r${restart}-${host}`;
  return name.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, instanceCharactersMax);
}

/**
 * Not inside the state root, which may have a long path or lie on a network file system. The name holds a hash
 * of the instance's directory, so that equal names under different state roots do not meet.
 */
function socketPaths({ env, uid }: PlaceFacts, instanceDir: string): string[] {
  const hash = createHash("sha256").update(instanceDir).digest("hex").slice(0, 16);
  const runtime = env.XDG_RUNTIME_DIR;
  const directories = [`/tmp/otela-${uid}`];
  if (runtime?.startsWith("/")) directories.unshift(join(runtime, "otela"));
  return directories.map((directory) => join(directory, `${hash}.sock`))
    .filter((path) => new TextEncoder().encode(path).byteLength <= socketPathBytesMax);
}
