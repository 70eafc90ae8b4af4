// How does one process at a time hold a directory, on file systems that cannot lock?
//
// A lock is the file with the highest generation in a directory. Taking one over means creating the next
// generation, which only one process can: two that find the same dead holder do not both win. The highest file is
// never removed, only marked as released, so no late process can begin again below it.
import { join } from "node:path";
import { messageOf, OtelaError } from "../base/errors.ts";
import type { Ms } from "../base/units.ts";
import { replaceFile, retryStale } from "./durable_write.ts";
import { FileError, type FileSystem } from "./file_system.ts";
import {
  decodeLockRecord,
  encodeLockRecord,
  type LockRecord,
  lockRecordBytesMax,
} from "./lock_record.ts";
import type { Processes, ProcessMark } from "./process_mark.ts";

/** What taking a lock needs of the world. */
export type LockPorts = {
  readonly files: FileSystem;
  readonly processes: Processes;
  /** This process. */
  readonly self: ProcessMark;
  /** Of this acquisition alone. */
  readonly token: string;
  /** A holder that we cannot see is dead when its file is older. */
  readonly staleAfterMs: Ms;
};

/** The highest file of a directory. */
type Holder = {
  readonly generation: number;
  /** `undefined` when it is not whole. */
  readonly record: LockRecord | undefined;
  readonly modifiedAtMs: number;
};

/** Each lost race means that somebody else won, who is then seen alive. */
const attemptsMax = 16;

/**
 * Takes a directory for this process.
 * @returns The generation held; `undefined` when the file system cannot create files exclusively, so that
 * nobody can hold anything.
 * @throws {OtelaError} `instance_locked` when another process holds it, `state_unusable` when we cannot tell.
 */
export async function lockDirectory(
  directory: string,
  ports: LockPorts,
): Promise<number | undefined> {
  const { files, self, token } = ports;
  const record = { ...self, token, heartbeat: 0, isReleased: false };
  const candidate = join(directory, `candidate-${token}`);
  try {
    await files.makeDirectory(directory);
    await files.create(candidate, encodeLockRecord(record));
    // The same clock stamps this file and the holder's: clocks of hosts may differ by any amount.
    const { modifiedAtMs } = await retryStale(() => files.facts(candidate));
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const holder = await readHolder(directory, files);
      if (holder !== undefined) await assertFree(directory, holder, modifiedAtMs, ports);
      const generation = (holder?.generation ?? 0) + 1;
      if (await claim(directory, generation, candidate, record, files)) return generation;
    }
    throw new FileError("other", directory, "others kept taking it");
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.failure === "unsupported") return undefined;
    throw new OtelaError(
      "state_unusable",
      `Cannot lock "${directory}" as it must be on a writable disk: ${messageOf(error)}; ` +
        "choose another with --state-dir or --instance",
      { cause: error, fields: { directory } },
    );
  } finally {
    await files.remove(candidate).catch(() => {}); // A leftover candidate is no lock.
  }
}

/** Tries to be the one that creates a generation. */
async function claim(
  directory: string,
  generation: number,
  candidate: string,
  record: LockRecord,
  files: FileSystem,
): Promise<boolean> {
  const path = lockPath(directory, generation);
  try {
    await retryStale(() => files.link(candidate, path)).catch((error: FileError) => {
      if (error.failure !== "unsupported") throw error;
      return files.create(path, encodeLockRecord(record)); // Exclusive as well, only not whole at once.
    });
  } catch (error) {
    if (!(error instanceof FileError) || error.failure !== "exists") throw error;
    // NFS repeats a request whose answer was lost, and then says that what we created exists.
    if (!(await isOurs(path, record, files))) return false;
  }
  const generations = await listGenerations(directory, files);
  // Whoever created a higher one meanwhile saw ours or removed the one before: the higher one holds.
  if (generations.some((other) => other > generation)) {
    await files.remove(path);
    return false;
  }
  for (const other of generations) {
    if (other < generation) await files.remove(lockPath(directory, other));
  }
  return true;
}

async function isOurs(path: string, { token }: LockRecord, files: FileSystem): Promise<boolean> {
  try {
    const bytes = await retryStale(() => files.read(path, lockRecordBytesMax));
    return decodeLockRecord(bytes)?.token === token;
  } catch (error) {
    if (error instanceof FileError && error.failure === "missing") return false;
    throw error;
  }
}

/**
 * Says that the holder lives on.
 * @returns `false` when another process holds a higher generation: then we hold nothing any more.
 * @throws {FileError} When the file cannot be written; the next beat may succeed.
 */
export async function beatLock(
  directory: string,
  generation: number,
  record: LockRecord,
  files: FileSystem,
): Promise<boolean> {
  await files.makeDirectory(directory); // Somebody may have cleaned up under us.
  const generations = await retryStale(() => listGenerations(directory, files));
  if (generations.some((other) => other > generation)) return false;
  await replaceFile(files, lockPath(directory, generation), encodeLockRecord(record));
  return true;
}

async function readHolder(directory: string, files: FileSystem): Promise<Holder | undefined> {
  const generation = (await retryStale(() => listGenerations(directory, files))).at(-1);
  if (generation === undefined) return undefined;
  const path = lockPath(directory, generation);
  try {
    // Read first: opening a file makes NFS ask the server for its times, which it caches otherwise.
    const bytes = await retryStale(() => files.read(path, lockRecordBytesMax));
    const { modifiedAtMs } = await retryStale(() => files.facts(path));
    return { generation, record: decodeLockRecord(bytes), modifiedAtMs };
  } catch (error) {
    // Removed since it was listed, so there is a higher one: claiming this generation's successor finds it.
    if (error instanceof FileError && error.failure === "missing") {
      return { generation, record: undefined, modifiedAtMs: -Infinity };
    }
    throw error;
  }
}

/** @throws {OtelaError} `instance_locked` unless the holder gave it back or is dead. */
async function assertFree(
  directory: string,
  holder: Holder,
  nowMs: number,
  ports: LockPorts,
): Promise<void> {
  const { record } = holder;
  if (record?.isReleased) return;
  const state = record === undefined ? "unknown" : await ports.processes.stateOf(record);
  if (state === "gone") return;
  const ageMs = nowMs - holder.modifiedAtMs;
  if (state === "unknown" && ageMs > ports.staleAfterMs) return;
  const who = record === undefined
    ? "another process"
    : `process ${record.pid} on host "${record.host}"`;
  const cure = state === "running"
    ? "stop it, or start with another --instance"
    : `stop it, or start with another --instance; if it is dead, try again in ${
      Math.max(1, Math.ceil((ports.staleAfterMs - ageMs) / 1_000))
    } s`;
  throw new OtelaError(
    "instance_locked",
    `Cannot use "${directory}" as no other process may hold it: ${who} does; ${cure}`,
    { fields: { directory, host: record?.host ?? null, pid: record?.pid ?? null } },
  );
}

function lockPath(directory: string, generation: number): string {
  return join(directory, `held-${generation}`);
}

/** In ascending order; names that are no lock are not ours to judge. */
async function listGenerations(directory: string, files: FileSystem): Promise<number[]> {
  const names = await files.list(directory);
  return names.flatMap((name) => {
    const match = /^held-(\d{1,15})$/.exec(name);
    return match ? [Number(match[1])] : [];
  }).sort((a, b) => a - b);
}
