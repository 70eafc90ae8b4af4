// Where does the operator socket of this instance lie, and how is it found?
import { dirname } from "node:path";
import { messageOf, OtelaError } from "../base/errors.ts";
import { disk } from "./disk.ts";
import { replaceFile } from "./durable_write.ts";
import type { FileSystem } from "./file_system.ts";

/** What a command needs to reach a running node of its instance. */
export type SocketPointer = {
  readonly socket: string;
  /** A socket works on its own host only; the state directory may be shared. */
  readonly host: string;
  readonly pid: number;
};

const pointerBytesMax = 4_096;

/**
 * Chooses the first place whose directory is private to this user, creates that directory, and clears away the
 * socket that an earlier process of this instance left.
 * @param candidates In order of preference, from `resolvePlaces`; call only while holding the instance's lock.
 * @throws {OtelaError} `state_unusable`, with what is wrong at each place.
 */
export async function prepareSocketPath(
  candidates: readonly string[],
  uid: number,
  files: FileSystem = disk,
): Promise<string> {
  const reasons: string[] = [];
  for (const path of candidates) {
    const reason = await prepare(path, uid, files).catch(messageOf);
    if (reason === undefined) return path;
    reasons.push(`"${dirname(path)}" ${reason}`);
  }
  throw new OtelaError(
    "state_unusable",
    `Cannot place the operator socket as its directory must be private to this user: ${
      reasons.join(", ") || "no place has a short enough path"
    }`,
  );
}

/** @returns Why the place cannot be used; `undefined` when it can. */
async function prepare(path: string, uid: number, files: FileSystem): Promise<string | undefined> {
  const directory = dirname(path);
  await files.makeDirectory(directory);
  const facts = await files.facts(directory);
  // In `/tmp` anybody could have been here first, and would then own our socket.
  if (facts.kind === "link") return "is a symbolic link";
  if (facts.kind !== "directory") return "is no directory";
  if (facts.uid !== null && facts.uid !== uid) return `belongs to user ${facts.uid}`;
  if (facts.mode !== null && (facts.mode & 0o077) !== 0) return "is open to others: chmod 700 it";
  await files.remove(path);
  return undefined;
}

/** Tells commands where the socket is. @throws {OtelaError} `state_unusable` */
export async function writeSocketPointer(
  file: string,
  pointer: SocketPointer,
  files: FileSystem = disk,
): Promise<void> {
  try {
    await files.makeDirectory(dirname(file));
    await replaceFile(files, file, new TextEncoder().encode(`${JSON.stringify(pointer)}\n`));
  } catch (cause) {
    const message = `Cannot write "${file}": ${messageOf(cause)}`;
    throw new OtelaError("state_unusable", message, { cause, fields: { file } });
  }
}

/** @returns `undefined` when no node of this instance has run here, or when the file is damaged. */
export async function readSocketPointer(
  file: string,
  files: FileSystem = disk,
): Promise<SocketPointer | undefined> {
  try {
    const text = new TextDecoder().decode(await files.read(file, pointerBytesMax));
    const { socket, host, pid } = JSON.parse(text) ?? {};
    const isWhole = typeof socket === "string" && typeof host === "string" &&
      Number.isSafeInteger(pid);
    return isWhole ? { socket, host, pid } : undefined;
  } catch {
    return undefined; // The caller says that no node was found; a node rewrites the file at its start.
  }
}
