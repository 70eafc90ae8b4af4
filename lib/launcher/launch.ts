// How does a node come to run in its own thread, with exactly what it needs?
import { hostname } from "node:os";
import { dirname } from "node:path";
import { messageOf, OtelaError } from "../base/errors.ts";
import type { NodeConfig } from "../config/node_config.ts";
import type { Places } from "../config/places.ts";
import type { EventMessage, VersionFacts } from "../config/thread_messages.ts";
import { loadOrCreateIdentity } from "../identity/identity_file.ts";
import { acquireInstanceLock } from "../identity/instance_lock.ts";
import { prepareSocketPath, writeSocketPointer } from "../identity/socket_place.ts";
import { ownHelperThreads } from "../platform/helper_threads.ts";
import { collectGarbageAtRest } from "../platform/garbage.ts";
import { environmentFor } from "./environment.ts";
import { type NodeThread, startNodeThread } from "./node_thread.ts";
import { permissionsFor, realPathOf } from "./permissions.ts";
import { findTools, isExecutableFile } from "./tools.ts";

/** The launcher's own thread, once its node runs. */
const atRest = { openCount: 0, startedCount: 0 };

/** A node to run, and who hears of it. */
export type LaunchOptions = {
  readonly config: NodeConfig;
  readonly places: Places;
  readonly version: VersionFacts;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told what a person should know. */
  readonly warn: (warning: string) => void;
  readonly onEvent: (message: EventMessage) => void;
};

/** A launched node, and the instance that it holds. Disposing ends the one and gives back the other. */
export type LaunchedNode = AsyncDisposable & { readonly thread: NodeThread };

/**
 * Takes the instance for this process and starts the node thread. This thread never touches the network; the
 * other one touches nothing but the network and the places given here. The locks, the socket's folder and the
 * pointer file are this thread's business alone: whether the holder of a lock still lives is learnt by running
 * `cat`, and a node that may run `cat` could read any key of the user. The folder of an ephemeral instance is
 * removed after a stop in good order.
 * @throws {OtelaError} `instance_locked` when another process runs it, `identity_damaged`, `state_unusable`.
 */
export async function launchNode(options: LaunchOptions): Promise<LaunchedNode> {
  const { config, places, version, env, warn, onEvent } = options;
  await using stack = new AsyncDisposableStack();
  let isClean = false;
  if (places.isEphemeral) {
    stack.defer(async () => { // After the locks in it were given back.
      if (isClean) await Deno.remove(places.instanceDir, { recursive: true }).catch(() => {});
    });
  }
  const lock = stack.use(await acquireInstanceLock(places.lockDirs, { warn }));
  const socketPath = await prepareSocketPath(places.socketPaths, Deno.uid() ?? 0);
  const { identity } = await loadOrCreateIdentity(places.keyFile);
  const tools = findTools(env.PATH ?? "", isExecutableFile);
  const thread = startNodeThread({
    entry: new URL("../node/thread.ts", import.meta.url),
    permissions: permissionsFor({
      config,
      folders: { state: [places.instanceDir, dirname(places.keyFile)], socketPath },
      tools,
      peer: identity.peerId,
      realPath: realPathOf,
    }),
    start: {
      type: "start",
      config,
      places,
      socketPath,
      version,
      tools,
      environment: environmentFor(env),
    },
    onEvent,
    helpers: ownHelperThreads,
  });
  stack.defer(() => thread.terminate());
  const taken = new OtelaError(
    "instance_locked",
    `Another process took over instance "${places.instance}" while this one stood still`,
  );
  // No goodbye: it would be one of the other process too.
  lock.lost.addEventListener("abort", () => thread.terminate(taken));
  thread.ended.then((end) => isClean = end === "stopped", () => {}); // Told to who waits for it.
  const pointer = { socket: socketPath, host: hostname(), pid: Deno.pid };
  thread.ready.then(
    () => {
      collectGarbageAtRest(() => atRest);
      return writeSocketPointer(places.socketPointerFile, pointer).catch((e) => warn(messageOf(e)));
    },
    () => {}, // Told by `thread.ended`.
  );
  const owned = stack.move();
  return { thread, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
