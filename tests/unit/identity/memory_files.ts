// How does a file system fail when it is told to, as network file systems do by themselves? This one is in memory.
import { dirname } from "node:path";
import {
  FileError,
  type FileFacts,
  type FileFailure,
  type FileSystem,
} from "../../../lib/identity/file_system.ts";

/** Names of the port's methods. */
export type FileOperation = keyof FileSystem;

type Inode = { bytes: Uint8Array<ArrayBuffer>; modifiedAtMs: number; mode: number; uid: number };
type Fault = { readonly failure: FileFailure; timesLeft: number };

/** Several processes may share one; its clock is the one that stamps files. */
export class MemoryFiles implements FileSystem {
  nowMs = 1_000_000;
  readonly #files = new Map<string, Inode>();
  readonly #directories = new Map<
    string,
    { uid: number; mode: number; kind: "directory" | "link" }
  >(
    [["/", { uid: 0, mode: 0o755, kind: "directory" }]],
  );
  readonly #faults = new Map<FileOperation, Fault>();
  /** Every operation in order, for tests of what was done. */
  readonly calls: string[] = [];

  /** Makes the next calls of an operation fail. */
  fail(operation: FileOperation, failure: FileFailure, times = Infinity): void {
    this.#faults.set(operation, { failure, timesLeft: times });
  }

  /** Puts a file or changes what is known of it. */
  put(path: string, text: string | Uint8Array, mode = 0o600): void {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text.slice();
    const { nowMs: modifiedAtMs } = this;
    this.#files.set(path, { bytes: new Uint8Array(bytes), modifiedAtMs, mode, uid: 1000 });
  }

  putDirectory(
    path: string,
    facts: { uid?: number; mode?: number; kind?: "directory" | "link" },
  ): void {
    this.#directories.set(path, { uid: 1000, mode: 0o700, kind: "directory", ...facts });
  }

  text(path: string): string | undefined {
    const inode = this.#files.get(path);
    return inode && new TextDecoder().decode(inode.bytes);
  }

  paths(): string[] {
    return [...this.#files.keys()].sort();
  }

  async read(path: string, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
    const { bytes } = await this.#inode("read", path);
    if (bytes.byteLength > bytesMax) throw new FileError("other", path, "it has too many bytes");
    return bytes.slice();
  }

  async create(path: string, bytes: Uint8Array): Promise<void> {
    await this.#enter("create", path);
    this.#needDirectory(path);
    if (this.#files.has(path)) throw new FileError("exists", path, "file exists");
    this.put(path, bytes);
  }

  async link(from: string, to: string): Promise<void> {
    const inode = await this.#inode("link", from);
    this.#needDirectory(to);
    if (this.#files.has(to)) throw new FileError("exists", to, "file exists");
    this.#files.set(to, inode);
  }

  async rename(from: string, to: string): Promise<void> {
    const inode = await this.#inode("rename", from);
    this.#needDirectory(to);
    this.#files.delete(from);
    this.#files.set(to, inode);
  }

  async remove(path: string): Promise<void> {
    await this.#enter("remove", path);
    this.#files.delete(path);
  }

  async list(path: string): Promise<string[]> {
    await this.#enter("list", path);
    if (!this.#directories.has(path)) throw new FileError("missing", path, "no such directory");
    const inside = [...this.#files.keys()].filter((name) => dirname(name) === path);
    return inside.map((name) => name.slice(path.length + 1)).sort();
  }

  async facts(path: string): Promise<FileFacts> {
    await this.#enter("facts", path);
    const directory = this.#directories.get(path);
    if (directory) return { ...directory, modifiedAtMs: 0 };
    const { mode, uid, modifiedAtMs } = this.#found(path);
    return { kind: "file", mode, uid, modifiedAtMs };
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#enter("makeDirectory", path);
    for (let at = path; !this.#directories.has(at); at = dirname(at)) this.putDirectory(at, {});
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#enter("syncDirectory", path);
  }

  /** Lets other processes run in between, then fails if it was told to. */
  async #enter(operation: FileOperation, path: string): Promise<void> {
    this.calls.push(`${operation} ${path}`);
    await Promise.resolve();
    const fault = this.#faults.get(operation);
    if (fault === undefined || fault.timesLeft-- <= 0) return;
    throw new FileError(fault.failure, path, `injected: ${fault.failure}`);
  }

  async #inode(operation: FileOperation, path: string): Promise<Inode> {
    await this.#enter(operation, path);
    return this.#found(path);
  }

  #found(path: string): Inode {
    const inode = this.#files.get(path);
    if (inode === undefined) throw new FileError("missing", path, "no such file");
    return inode;
  }

  #needDirectory(path: string): void {
    if (this.#directories.has(dirname(path))) return;
    throw new FileError("missing", path, "no such directory");
  }
}
