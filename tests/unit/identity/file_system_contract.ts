// What must hold of every file system that keeps an identity?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { join } from "node:path";
import { FileError, type FileFailure, type FileSystem } from "../../../lib/identity/file_system.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The error check for `rejects`. */
export function failsWith(failure: FileFailure): (error: unknown) => boolean {
  return (error) => error instanceof FileError && error.failure === failure;
}

/**
 * Runs the contract.
 * @param root An empty directory of that file system; filled by this.
 */
export async function checkFileSystem(files: FileSystem, root: string): Promise<void> {
  const directory = join(root, "a", "b");
  const path = join(directory, "file");
  await rejects(files.read(path, 10), failsWith("missing"));
  await rejects(files.list(directory), failsWith("missing"));
  await rejects(files.create(path, bytes("x")), failsWith("missing"));
  await files.makeDirectory(directory);
  await files.makeDirectory(directory); // A second time is no failure.
  deepEqual((await files.facts(directory)).kind, "directory");
  equal((await files.facts(directory)).mode, 0o700);

  await files.create(path, bytes("one"));
  await rejects(files.create(path, bytes("two")), failsWith("exists"));
  equal(text(await files.read(path, 3)), "one");
  await rejects(files.read(path, 2), failsWith("other"));
  const facts = await files.facts(path);
  equal(facts.kind, "file");
  equal(facts.mode, 0o600);

  const second = join(directory, "second");
  await files.link(path, second);
  await rejects(files.link(path, second), failsWith("exists"));
  await rejects(files.link(join(directory, "none"), join(directory, "x")), failsWith("missing"));
  equal(text(await files.read(second, 10)), "one");
  deepEqual(await files.list(directory), ["file", "second"]);

  const third = join(directory, "third");
  await files.create(third, bytes("three"));
  await files.rename(third, path);
  equal(text(await files.read(path, 10)), "three");
  equal(text(await files.read(second, 10)), "one");
  await rejects(files.rename(third, path), failsWith("missing"));

  await files.remove(second);
  await files.remove(second); // A missing one is no failure.
  deepEqual(await files.list(directory), ["file"]);
  await files.syncDirectory(directory);
  ok(Math.abs((await files.facts(path)).modifiedAtMs) > 0);
}
