// What does a node ask of the disk on which it keeps its identity?
import type { Bytes } from "../base/units.ts";

/** Why a file operation failed, as far as we decide by it. */
export type FileFailure =
  | "missing"
  | "exists"
  | "denied"
  /** The file system has no such operation (ENOSYS, ENOLCK, ENOTSUP, EPERM of a link). */
  | "unsupported"
  /** A network file system lost track of the file (ESTALE): asking again may help. */
  | "stale"
  | "other";

/** A file operation that failed. */
export class FileError extends Error {
  override readonly name = "FileError";

  constructor(
    readonly failure: FileFailure,
    readonly path: string,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** What is known of a file without opening it; links are not followed. */
export type FileFacts = {
  readonly kind: "file" | "directory" | "link" | "other";
  /** Permission bits, `0o600`; `null` where the file system has none. */
  readonly mode: number | null;
  readonly uid: number | null;
  /** By the clock of whoever stores the file: comparable only among files of one file system. */
  readonly modifiedAtMs: number;
};

/**
 * The few file operations by which identity, epoch and lock are kept (port; `disk.ts` is the adapter; the
 * tests have one in memory that fails as network file systems do, and both pass one contract).
 * Every method rejects with a `FileError` alone.
 */
export interface FileSystem {
  /** @returns The whole file; rejects with `missing`, and with `other` when it has more bytes than allowed. */
  read(path: string, bytesMax: Bytes): Promise<Uint8Array<ArrayBuffer>>;
  /** Creates a file of mode 0600 from its first byte, durable when done; rejects with `exists`. */
  create(path: string, bytes: Uint8Array): Promise<void>;
  /** Gives a file a second name, atomically; rejects with `exists` when that is taken. */
  link(from: string, to: string): Promise<void>;
  /** Moves a file, atomically, over what is there. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; a missing one is no failure. */
  remove(path: string): Promise<void>;
  /** Names in a directory, sorted. */
  list(path: string): Promise<string[]>;
  facts(path: string): Promise<FileFacts>;
  /** Creates a directory and those above it; those it creates get mode 0700. */
  makeDirectory(path: string): Promise<void>;
  /** Makes names created in a directory durable; does nothing where that cannot be done. */
  syncDirectory(path: string): Promise<void>;
}
