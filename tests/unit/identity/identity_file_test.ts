import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import type { FileFailure } from "../../../lib/identity/file_system.ts";
import { createIdentity } from "../../../lib/identity/identity.ts";
import { loadIdentity, loadOrCreateIdentity } from "../../../lib/identity/identity_file.ts";
import { type FileOperation, MemoryFiles } from "./memory_files.ts";

const path = "/home/ada/.config/opentela/keys/id";

function fails(code: string, reason: RegExp): (error: unknown) => boolean {
  return (error) => {
    match(String(error), reason);
    return error instanceof OtelaError && error.code === code;
  };
}

Deno.test("B65: loadOrCreateIdentity creates a key once and finds it afterwards", async () => {
  const files = new MemoryFiles();
  equal(await loadIdentity(path, files), undefined);
  const first = await loadOrCreateIdentity(path, files);
  const second = await loadOrCreateIdentity(path, files);
  deepEqual([first.isNew, second.isNew], [true, false]);
  equal(first.identity.peerId, second.identity.peerId);
  deepEqual(files.paths(), [path], "nothing is left beside the key");
});

Deno.test("loadOrCreateIdentity gives many that create at once the same key", async () => {
  const files = new MemoryFiles();
  const all = await Promise.all(
    Array.from({ length: 20 }, () => loadOrCreateIdentity(path, files)),
  );
  equal(new Set(all.map(({ identity }) => identity.peerId)).size, 1);
  equal(all.filter(({ isNew }) => isNew).length, 1);
  deepEqual(files.paths(), [path]);
});

Deno.test("loadOrCreateIdentity refuses a damaged file, names it and the cure, and leaves it as it is", async () => {
  const files = new MemoryFiles();
  for (const content of ["", "not a key", "x".repeat(9_000)]) {
    files.put(path, content);
    const code = content.length > 8_192 ? "state_unusable" : "identity_damaged";
    await rejects(loadOrCreateIdentity(path, files), fails(code, /keys\/id"/));
    equal(files.text(path), content);
  }
  files.put(path, "not a key");
  await rejects(
    loadOrCreateIdentity(path, files),
    fails("identity_damaged", /restore .* from a copy, or move it away/),
  );
});

Deno.test("loadOrCreateIdentity warns of a key that others may use", async () => {
  const files = new MemoryFiles();
  files.put(path, createIdentity().privateKeyProtobuf, 0o644);
  const { warnings } = await loadOrCreateIdentity(path, files);
  equal(warnings.length, 1);
  match(warnings[0], /may be used by others \(mode 644\): chmod 600 it/);
});

Deno.test("loadOrCreateIdentity creates a key where links are not supported", async () => {
  const files = new MemoryFiles();
  files.fail("link", "unsupported");
  const all = await Promise.all(Array.from({ length: 5 }, () => loadOrCreateIdentity(path, files)));
  equal(new Set(all.map(({ identity }) => identity.peerId)).size, 1);
  deepEqual(files.paths(), [path]);
});

Deno.test("loadOrCreateIdentity asks again when a network file system lost the file", async () => {
  const files = new MemoryFiles();
  files.fail("link", "stale", 2);
  ok((await loadOrCreateIdentity(path, files)).isNew);
  files.fail("read", "stale", 2);
  ok(!(await loadOrCreateIdentity(path, files)).isNew);
});

const hopeless: [FileOperation, FileFailure][] = [
  ["read", "other"],
  ["read", "denied"],
  ["create", "other"],
  ["create", "denied"],
  ["link", "other"],
  ["link", "stale"],
  ["makeDirectory", "denied"],
];
for (const [operation, failure] of hopeless) {
  Deno.test(`loadOrCreateIdentity says so when ${operation} fails for good (${failure}), and leaves no key`, async () => {
    const files = new MemoryFiles();
    files.fail(operation, failure);
    await rejects(loadOrCreateIdentity(path, files), fails("state_unusable", /keys\/id"/));
    deepEqual(files.paths(), []);
  });
}
