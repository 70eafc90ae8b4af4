// What do the launcher and the node thread say to each other?
//
// The node thread has no environment, no arguments and no signals: everything it may know of them comes in
// `start`. All messages are structured-clonable plain data.
import type { ErrorCode } from "../base/errors.ts";
import type { Ms } from "../base/units.ts";
import type { HelperReport, HelperRequest } from "./helper_threads.ts";
import type { NodeConfig } from "./node_config.ts";
import type { Places } from "./places.ts";

/** The programs that a node thread may run, and no other: queries that answer and end. */
export const toolNames = ["nvidia-smi", "rocm-smi", "scontrol", "squeue", "sinfo"] as const;

/** One of {@link toolNames}. */
export type ToolName = typeof toolNames[number];

/** Absolute paths of the tools found; what was not found is absent. */
export type Tools = Readonly<Partial<Record<ToolName, string>>>;

/** What this build is; shown by `version` and in the claim. */
export type VersionFacts = {
  /** `0.1.0`. */
  readonly otela: string;
  readonly deno: string;
  /** `x86_64-unknown-linux-gnu`. */
  readonly target: string;
};

/** The first message to the thread, once, after it said `awake`. */
export type StartMessage = {
  readonly type: "start";
  readonly config: NodeConfig;
  readonly places: Places;
  /**
   * Where to open the operator door. The launcher has made its folder, holds the instance's locks, and tells
   * commands where the socket is once the node is ready: that needs rights which the thread has not.
   */
  readonly socketPath: string;
  readonly version: VersionFacts;
  readonly tools: Tools;
  /** Variables that the node and its tools need (`PATH`, `SLURM_…`, `CUDA_VISIBLE_DEVICES`), as they were at the start. */
  readonly environment: Readonly<Record<string, string>>;
};

/** Take nothing new, say goodbye, finish what runs, then say `stopped`. */
export type StopMessage = {
  readonly type: "stop";
  /** For the log: `SIGTERM`, `library`. */
  readonly reason: string;
  /** Running exchanges may go on for so long; then they are cut. */
  readonly deadlineMs: Ms;
};

/** Everything that the launcher says. */
export type MessageToThread = StartMessage | StopMessage | HelperReport;

/** The thread listens; messages sent earlier may be lost. */
export type AwakeMessage = { readonly type: "awake" };

/** The node serves: its doors are open, and it has joined or said that it is alone. */
export type ReadyMessage = {
  readonly type: "ready";
  readonly peerId: string;
  /** URL of the client door as it can be used from this host, without a slash at the end. */
  readonly http: string;
  /** Addresses on which others reach this node, each ending in `/p2p/…`. */
  readonly multiaddrs: readonly string[];
  /** The operator door. */
  readonly socketPath: string;
};

/** The node cannot start or go on, for a reason that was foreseen. The thread's last message. */
export type FailedMessage = {
  readonly type: "failed";
  readonly code: ErrorCode;
  /** One line for people. */
  readonly message: string;
};

/** The node has stopped in good order, by `stop` or by an operator. The thread's last message. */
export type StoppedMessage = { readonly type: "stopped" };

/** Something that a program reading `start --json` may want to know: one line of JSON there. */
export type EventMessage = {
  readonly type: "event";
  /** `service.ready`, `peer.left`, …: `noun.verb`, never `ready`. */
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** Everything that the thread says. */
export type MessageFromThread =
  | AwakeMessage
  | ReadyMessage
  | FailedMessage
  | StoppedMessage
  | EventMessage
  | HelperRequest;
