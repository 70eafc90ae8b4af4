// Where does the node's identity come from, and how is it kept?
import { dirname } from "node:path";
import { messageOf, OtelaError } from "../base/errors.ts";
import { disk } from "./disk.ts";
import { nameBeside, retryStale } from "./durable_write.ts";
import { FileError, type FileSystem } from "./file_system.ts";
import { createIdentity, decodeIdentity, type Identity } from "./identity.ts";
import { keyMessageBytesMax } from "./key_message.ts";

/** An identity and what a person should know of its file. */
export type LoadedIdentity = {
  readonly identity: Identity;
  /** Whether it was created just now. */
  readonly isNew: boolean;
  /** Sentences for a person. */
  readonly warnings: readonly string[];
};

/**
 * The identity in a key file; only when there is no file, a new one is created and written. Of two processes
 * that do so at once one wins, and both end with its key.
 * @param path Absolute. The file gets mode 0600 from its first byte, new directories 0700.
 * @throws {OtelaError} `identity_damaged` when the file holds no key: it is never replaced. `state_unusable`
 * when it cannot be read or written.
 */
export async function loadOrCreateIdentity(
  path: string,
  files: FileSystem = disk,
): Promise<LoadedIdentity> {
  const loaded = await loadIdentity(path, files);
  if (loaded !== undefined) return loaded;
  const identity = createIdentity();
  try {
    const isNew = await createOnce(path, identity.privateKeyProtobuf, files);
    if (isNew) return { identity, isNew, warnings: [] };
  } catch (error) {
    throw unusable("write", path, error);
  }
  const winner = await loadIdentity(path, files);
  if (winner !== undefined) return winner;
  throw unusable("keep", path, new Error("somebody else created and removed it just now"));
}

/**
 * The identity in a key file.
 * @returns `undefined` when there is no file; nothing is ever created.
 * @throws {OtelaError} `identity_damaged` or `state_unusable`, as above.
 */
export async function loadIdentity(
  path: string,
  files: FileSystem = disk,
): Promise<LoadedIdentity | undefined> {
  let bytes: Uint8Array;
  let mode: number | null;
  try {
    bytes = await retryStale(() => files.read(path, keyMessageBytesMax));
    ({ mode } = await retryStale(() => files.facts(path)));
  } catch (error) {
    if (error instanceof FileError && error.failure === "missing") return undefined;
    throw unusable("read", path, error);
  }
  try {
    return { identity: decodeIdentity(bytes), isNew: false, warnings: modeWarnings(path, mode) };
  } catch (cause) {
    const advice = `restore "${path}" from a copy, or move it away to become a new peer`;
    throw new OtelaError("identity_damaged", `${messageOf(cause)}; ${advice}`, {
      cause,
      fields: { file: path },
    });
  }
}

/** Written beside and linked, so that the name appears with the whole key or not at all. */
async function createOnce(path: string, bytes: Uint8Array, files: FileSystem): Promise<boolean> {
  await files.makeDirectory(dirname(path));
  const beside = nameBeside(path);
  try {
    await files.create(beside, bytes);
    await retryStale(() => files.link(beside, path));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.failure === "exists") return false;
    if (error.failure !== "unsupported") throw error;
    // Without links a crash within this one small write leaves a damaged file, which is refused later.
    return await createInPlace(path, bytes, files);
  } finally {
    await files.remove(beside).catch(() => {}); // A leftover is private and harmless.
  }
  await files.syncDirectory(dirname(path));
  return true;
}

async function createInPlace(path: string, bytes: Uint8Array, files: FileSystem): Promise<boolean> {
  try {
    await files.create(path, bytes);
    return true;
  } catch (error) {
    if (error instanceof FileError && error.failure === "exists") return false;
    throw error;
  }
}

function modeWarnings(path: string, mode: number | null): string[] {
  if (mode === null || (mode & 0o077) === 0) return [];
  const bits = mode.toString(8).padStart(3, "0");
  return [
    `The key file "${path}" may be used by others (mode ${bits}): chmod 600 it, or become a new peer`,
  ];
}

function unusable(verb: string, path: string, cause: unknown): OtelaError {
  return new OtelaError(
    "state_unusable",
    `Cannot ${verb} the key file "${path}": ${messageOf(cause)}`,
    { cause, fields: { file: path } },
  );
}
