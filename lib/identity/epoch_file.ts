// Which epoch does this start have?
import { dirname } from "node:path";
import { messageOf, OtelaError } from "../base/errors.ts";
import { disk } from "./disk.ts";
import { replaceFile, retryStale } from "./durable_write.ts";
import { FileError, type FileSystem } from "./file_system.ts";

/** A number and a line end; more is not ours. */
const epochBytesMax = 64;

/** An epoch that no earlier start of this identity has used. */
export type NextEpoch = {
  readonly epoch: number;
  /** Sentences for a person. */
  readonly warnings: readonly string[];
};

/**
 * Takes the next epoch: one more than the file's and than any that peers have shown, written durably before
 * it is returned, so that no two starts use the same.
 *
 * A missing file is a first start. A damaged one hides a number, which must not be undercut: peers drop claims
 * with an epoch at or below the one they know. Epochs count starts and full documents, far fewer than one a
 * second, so the seconds since 1970 lie above every counted epoch, and also above an earlier escape of this
 * kind by as many as have passed since. If this machine's clock is wrong as well, peers still return the
 * higher epoch they hold, and the node outbids it with `seenEpoch`.
 * @param path The file; call only while holding the instance's lock.
 * @param seenEpoch Highest epoch of this identity that peers have shown, 0 when none.
 * @param nowMs Wall clock; only looked at when the file is damaged.
 * @throws {OtelaError} `state_unusable` when it cannot be read or written.
 */
export async function nextEpoch(
  path: string,
  seenEpoch: number,
  { files = disk, nowMs }: { readonly files?: FileSystem; readonly nowMs: () => number },
): Promise<NextEpoch> {
  try {
    const known = await readEpoch(path, files);
    const floor = known === "damaged" ? Math.max(0, Math.floor(nowMs() / 1_000)) : known;
    const epoch = Math.max(floor, seenEpoch) + 1;
    await files.makeDirectory(dirname(path));
    await replaceFile(files, path, new TextEncoder().encode(`${epoch}\n`));
    const warning =
      `The epoch file "${path}" was damaged: continuing at ${epoch}, above any that was used`;
    return { epoch, warnings: known === "damaged" ? [warning] : [] };
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new OtelaError(
      "state_unusable",
      `Cannot keep the epoch in "${path}": ${messageOf(cause)}`,
      { cause, fields: { file: path } },
    );
  }
}

async function readEpoch(path: string, files: FileSystem): Promise<number | "damaged"> {
  let bytes: Uint8Array;
  try {
    bytes = await retryStale(() => files.read(path, epochBytesMax));
  } catch (error) {
    if (error instanceof FileError && error.failure === "missing") return 0;
    // Too long, or a directory in its place: replacing tells which.
    if (error instanceof FileError && error.failure === "other") return "damaged";
    throw error;
  }
  const text = new TextDecoder().decode(bytes);
  if (!/^\d{1,16}\n?$/.test(text)) return "damaged";
  // One below the greatest exact number, so that adding one is exact as well.
  return Number(text) < Number.MAX_SAFE_INTEGER ? Number(text) : "damaged";
}
