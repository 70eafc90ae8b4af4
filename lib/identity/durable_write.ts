// How is a file replaced so that a crash leaves the old one or the new one?
import { dirname } from "node:path";
import type { FileError, FileSystem } from "./file_system.ts";

/** Retries after ESTALE: a network file system finds the file again on the next look. */
const staleRetriesMax = 3;

/** A name beside a file that no other process uses. */
export function nameBeside(path: string): string {
  return `${path}.new-${crypto.randomUUID()}`;
}

/**
 * Replaces a whole file durably: written beside, synced, renamed.
 * @throws {FileError} When any step fails; then the old content is still there.
 */
export async function replaceFile(
  files: FileSystem,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const beside = nameBeside(path);
  try {
    await files.create(beside, bytes);
    await retryStale(() => files.rename(beside, path));
  } catch (error) {
    await files.remove(beside).catch(() => {}); // The first failure is the one to tell.
    throw error;
  }
  await files.syncDirectory(dirname(path));
}

/** Repeats an operation that a network file system lost track of. @throws {FileError} The last failure. */
export async function retryStale<T>(operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if ((error as FileError).failure !== "stale" || attempt > staleRetriesMax) throw error;
    }
  }
}
