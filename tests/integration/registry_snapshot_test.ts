import { deepEqual, equal } from "node:assert/strict";
import { join } from "node:path";
import { type Log, silentLog } from "../../lib/base/ports.ts";
import { SnapshotFile } from "../../lib/node/snapshot_file.ts";
import { emptySnapshot, type Snapshot } from "../../lib/registry/snapshot.ts";

const snapshot: Snapshot = {
  envelopes: [Uint8Array.of(1, 2), Uint8Array.of(3)],
  floors: [{ envelope: Uint8Array.of(4), keptS: 5 }],
};

async function inFolder(test: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(join(folder, "registry.snapshot"), folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("SnapshotFile: reads what was written last, and nothing else lies beside it", async () => {
  await inFolder(async (path, folder) => {
    const file = new SnapshotFile(path, silentLog);
    deepEqual(await file.read(), emptySnapshot);
    await Promise.all([file.write(emptySnapshot), file.write(snapshot)]);
    deepEqual(await file.read(), snapshot);
    deepEqual(namesIn(folder), ["registry.snapshot"]);
    equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    await file.remove();
    deepEqual(await file.read(), emptySnapshot);
  });
});

Deno.test("SnapshotFile: keeps a damaged file aside, warns and starts empty", async () => {
  await inFolder(async (path, folder) => {
    await new SnapshotFile(path, silentLog).write(snapshot);
    const bytes = await Deno.readFile(path);
    bytes[bytes.byteLength - 1] ^= 1;
    await Deno.writeFile(path, bytes);
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (event) => warnings.push(event) };
    deepEqual(await new SnapshotFile(path, log).read(), emptySnapshot);
    deepEqual(warnings, ["snapshot.damaged"]);
    deepEqual(namesIn(folder), ["registry.snapshot.damaged"]);
    deepEqual(await Deno.readFile(`${path}.damaged`), bytes);
  });
});
