// How does the real disk do what the file system port asks?
import { dirname } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { FileError, type FileFacts, type FileFailure, type FileSystem } from "./file_system.ts";

const failureOfCode: Record<string, FileFailure> = {
  ENOENT: "missing",
  EEXIST: "exists",
  EACCES: "denied",
  EROFS: "denied",
  ENOSYS: "unsupported",
  ENOLCK: "unsupported",
  ENOTSUP: "unsupported",
  EOPNOTSUPP: "unsupported",
  EXDEV: "unsupported",
  EMLINK: "unsupported",
  ESTALE: "stale",
};

/** The file system of this machine. */
export const disk: FileSystem = {
  read: (path, bytesMax) => translated(path, () => readWhole(path, bytesMax)),
  create: (path, bytes) => translated(path, () => createPrivate(path, bytes)),
  link: (from, to) => translated(to, () => Deno.link(from, to), { EPERM: "unsupported" }),
  rename: (from, to) => translated(to, () => Deno.rename(from, to)),
  remove: (path) => translated(path, () => Deno.remove(path)).catch(unlessMissing),
  list: (path) => translated(path, () => listNames(path)),
  facts: (path) => translated(path, () => readFacts(path)),
  makeDirectory: (path) => translated(path, () => makePrivate(path)),
  syncDirectory: (path) => syncDirectory(path),
};

async function translated<T>(
  path: string,
  operation: () => Promise<T>,
  codes: Record<string, FileFailure> = {},
): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof FileError) throw error;
    const code = (error as { code?: unknown }).code;
    const failure = codes[String(code)] ?? failureOfCode[String(code)] ?? ofPermission(error);
    throw new FileError(failure, path, messageOf(error), { cause: error });
  }
}

/** Deno's own refusal has no code of the system. */
function ofPermission(error: unknown): FileFailure {
  const { PermissionDenied, NotCapable } = Deno.errors;
  return error instanceof PermissionDenied || error instanceof NotCapable ? "denied" : "other";
}

function unlessMissing(error: FileError): void {
  if (error.failure !== "missing") throw error;
}

async function readWhole(path: string, bytesMax: Bytes): Promise<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path, { read: true });
  const { isFile } = await file.stat();
  if (!isFile) throw new FileError("other", path, "it is no file");
  const bytes = new Uint8Array(bytesMax + 1);
  let length = 0;
  for (let count: number | null = 0; count !== null && length <= bytesMax; length += count ?? 0) {
    count = await file.read(bytes.subarray(length));
  }
  if (length > bytesMax) throw new FileError("other", path, `it has more than ${bytesMax} bytes`);
  return bytes.slice(0, length);
}

async function createPrivate(path: string, bytes: Uint8Array): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  for (let at = 0; at < bytes.byteLength;) at += await file.write(bytes.subarray(at));
  await file.sync();
}

async function listNames(path: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(path)) names.push(name);
  return names.sort();
}

async function readFacts(path: string): Promise<FileFacts> {
  const { isFile, isDirectory, isSymlink, mode, uid, mtime } = await Deno.lstat(path);
  const kind = isFile ? "file" : isDirectory ? "directory" : isSymlink ? "link" : "other";
  const bits = mode === null ? null : mode & 0o777;
  return { kind, mode: bits, uid, modifiedAtMs: mtime?.getTime() ?? 0 };
}

async function makePrivate(path: string, isLastTry = false): Promise<void> {
  try {
    await Deno.mkdir(path, { mode: 0o700 });
  } catch (error) {
    const parent = dirname(path);
    if (error instanceof Deno.errors.NotFound && !isLastTry) {
      if (!await isDirectory(parent)) await makePrivate(parent);
      // Else somebody may have made it since. Below an automounter's folder none can be made though it is there:
      // trying for ever would never end.
      return await makePrivate(path, true);
    }
    // Somebody may have been faster, and a link to a directory is one: what counts is what is there.
    if (!await isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): Promise<boolean> {
  return Deno.stat(path).then((facts) => facts.isDirectory, () => false);
}

async function syncDirectory(path: string): Promise<void> {
  try {
    using directory = await Deno.open(path, { read: true });
    await directory.sync();
  } catch {
    // Some network file systems refuse it; the content itself was synced before.
  }
}
