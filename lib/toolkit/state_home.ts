// Where does a node of this process keep its files, and what becomes of them?
import { hostname } from "node:os";
import { resolve } from "node:path";
import { OtelaError } from "../base/errors.ts";
import { type Places, resolvePlaces } from "../config/places.ts";
import { acquireInstanceLock } from "../identity/instance_lock.ts";
import { prepareSocketPath } from "../identity/socket_place.ts";

/** The places of one node, held for it. */
export type StateHome = {
  readonly places: Places;
  readonly socketPath: string;
  /** Aborts, with an `OtelaError`, when another process took the folder because this one stood still for too long. */
  readonly lost: AbortSignal;
  /** Gives them back, and removes them when they were temporary. Idempotent. */
  readonly close: () => Promise<void>;
};

const instance = "library";

/**
 * @param stateDir Kept, and locked for this process; a temporary folder when absent, which nobody else can know.
 * @throws {OtelaError} `instance_locked`, `state_unusable`.
 */
export async function openStateHome(
  stateDir: string | undefined,
  warn: (warning: string) => void,
): Promise<StateHome> {
  await using stack = new AsyncDisposableStack();
  const root = stateDir === undefined ? await Deno.makeTempDir({ prefix: "otela-" }) : stateDir;
  const isTemporary = stateDir === undefined;
  if (isTemporary) stack.defer(() => Deno.remove(root, { recursive: true }));
  const uid = Deno.uid() ?? 0;
  const named = { root: resolve(root), configDir: null, instance };
  const found = resolvePlaces({ ...named, env: {}, home: null, hostname: hostname(), uid });
  // A peer that will never come back takes its claim with it.
  const places = { ...found, isEphemeral: isTemporary };
  const losing = new AbortController();
  if (!isTemporary) {
    const lock = stack.use(await acquireInstanceLock(places.lockDirs, { warn }));
    lock.lost.addEventListener("abort", () => losing.abort(takenOver(places.stateRoot)));
  }
  const socketPath = await prepareSocketPath(places.socketPaths, uid);
  const owned = stack.move();
  return { places, socketPath, lost: losing.signal, close: () => owned.disposeAsync() };
}

function takenOver(stateDir: string): OtelaError {
  return new OtelaError(
    "instance_locked",
    `Cannot go on in "${stateDir}" as another process took it while this one stood still`,
  );
}
