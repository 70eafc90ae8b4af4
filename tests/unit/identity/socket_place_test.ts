import { deepEqual, equal, rejects } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import {
  prepareSocketPath,
  readSocketPointer,
  writeSocketPointer,
} from "../../../lib/identity/socket_place.ts";
import { MemoryFiles } from "./memory_files.ts";

const candidates = ["/run/user/1000/otela/a.sock", "/tmp/otela-1000/a.sock"];

Deno.test("prepareSocketPath takes the first place and clears an old socket away", async () => {
  const files = new MemoryFiles();
  files.put(candidates[0], "");
  equal(await prepareSocketPath(candidates, 1000, files), candidates[0]);
  deepEqual(files.paths(), []);
});

Deno.test("prepareSocketPath refuses a directory of somebody else, a link, and one that is open to others", async () => {
  const rows: [Parameters<MemoryFiles["putDirectory"]>[1], RegExp][] = [
    [{ uid: 7 }, /"\/tmp\/otela-1000" belongs to user 7/],
    [{ kind: "link" }, /"\/tmp\/otela-1000" is a symbolic link/],
    [{ mode: 0o755 }, /"\/tmp\/otela-1000" is open to others: chmod 700 it/],
  ];
  for (const [facts, reason] of rows) {
    const files = new MemoryFiles();
    files.putDirectory("/tmp/otela-1000", facts);
    const refused = (error: unknown) =>
      error instanceof OtelaError && error.code === "state_unusable" && reason.test(error.message);
    await rejects(prepareSocketPath(candidates.slice(1), 1000, files), refused);
    equal(await prepareSocketPath(candidates, 1000, files), candidates[0]);
  }
});

Deno.test("prepareSocketPath falls back when the first place cannot be made", async () => {
  const files = new MemoryFiles();
  files.fail("makeDirectory", "denied", 1);
  equal(await prepareSocketPath(candidates, 1000, files), candidates[1]);
  await rejects(prepareSocketPath([], 1000, files), /no place has a short enough path/);
});

Deno.test("readSocketPointer gives back what was written, and nothing for anything else", async () => {
  const files = new MemoryFiles();
  const file = "/state/instances/default/operator.json";
  equal(await readSocketPointer(file, files), undefined);
  const pointer = { socket: candidates[0], host: "node7", pid: 12 };
  await writeSocketPointer(file, pointer, files);
  deepEqual(await readSocketPointer(file, files), pointer);
  for (const text of ["", "null", "{}", `{"socket":1,"host":"a","pid":1}`, "x".repeat(9_000)]) {
    files.put(file, text);
    equal(await readSocketPointer(file, files), undefined);
  }
});
