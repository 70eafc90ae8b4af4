// Where does the registry lie while the node is down?
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/ports.ts";
import { disk } from "../identity/disk.ts";
import { replaceFile } from "../identity/durable_write.ts";
import type { FileError } from "../identity/file_system.ts";
import { concatBytes } from "../base/concat_bytes.ts";
import {
  decodeSnapshot,
  emptySnapshot,
  encodeSnapshot,
  type Snapshot,
  snapshotBytesMax,
} from "../registry/snapshot.ts";

/** The snapshot of one instance: one file, always whole. */
export class SnapshotFile {
  #writing: Promise<void> = Promise.resolve();

  /** @param path In the instance directory, which exists. */
  constructor(readonly path: string, readonly log: Log) {}

  /**
   * What was written last. Never fails: a node can learn everything anew.
   * @returns The empty snapshot when there is none, or none that is whole; a damaged file is kept aside as
   * `<path>.damaged`, in place of an earlier one, with a warning.
   */
  async read(): Promise<Snapshot> {
    try {
      const { size } = await Deno.stat(this.path);
      return decodeSnapshot(await disk.read(this.path, Math.min(size, snapshotBytesMax)));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return emptySnapshot;
      await this.#keepAside(error);
      return emptySnapshot;
    }
  }

  /**
   * Replaces the file durably, after writes that still run.
   * @throws {FileError} When the disk refuses; the former snapshot is still there.
   */
  write(snapshot: Snapshot): Promise<void> {
    const write = async () => replaceFile(disk, this.path, await encoded(snapshot));
    const written = this.#writing.then(write, write);
    this.#writing = written.catch(() => {}); // The caller of each write hears of its failure.
    return written;
  }

  /** Forgets everything: for `cleanslate`. @throws {FileError} When the disk refuses. */
  async remove(): Promise<void> {
    await this.#writing;
    await disk.remove(this.path);
  }

  async #keepAside(error: unknown): Promise<void> {
    const asidePath = `${this.path}.damaged`;
    this.log.warn("snapshot.damaged", {
      path: this.path,
      kept: asidePath,
      error: messageOf(error),
    });
    await disk.rename(this.path, asidePath).catch((failure: FileError) => {
      this.log.warn("snapshot.kept_in_place", { path: this.path, error: messageOf(failure) });
    });
  }
}

/** Encodes with a turn of the event loop between two parts, so that streams go on. */
async function encoded(snapshot: Snapshot): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (const part of encodeSnapshot(snapshot)) {
    parts.push(part);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return concatBytes(parts);
}
