// Do identity and lock hold on a real disk, among real processes?
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OtelaError } from "../../lib/base/errors.ts";
import { disk } from "../../lib/identity/disk.ts";
import { nextEpoch } from "../../lib/identity/epoch_file.ts";
import { createIdentity } from "../../lib/identity/identity.ts";
import { loadIdentity, loadOrCreateIdentity } from "../../lib/identity/identity_file.ts";
import { acquireInstanceLock } from "../../lib/identity/instance_lock.ts";
import { prepareSocketPath } from "../../lib/identity/socket_place.ts";
import { systemProcesses } from "../../lib/identity/system_processes.ts";
import { checkFileSystem, failsWith } from "../unit/identity/file_system_contract.ts";

const child = fileURLToPath(new URL("./identity_child.ts", import.meta.url));
const config = fileURLToPath(new URL("../../deno.json", import.meta.url));

/** A folder that is removed at the end. */
async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** One process of `identity_child.ts`, under a umask; ended at the latest with the scope. */
class Child implements AsyncDisposable {
  readonly process: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(what: "key" | "lock", path: string, umask = "022") {
    const deno = [Deno.execPath(), "run", "--quiet", "--no-prompt", "--config", config];
    const permissions = ["--allow-read", "--allow-write", "--allow-sys", "--allow-run"];
    const args = [`umask ${umask}; exec "$@"`, "sh", ...deno, ...permissions, child, what, path];
    this.process = new Deno.Command("sh", {
      args: ["-c", ...args],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#lines = this.process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next line that it says. */
  async next(): Promise<Record<string, unknown>> {
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#lines.read();
      if (done) throw new Error(`The child ended after "${this.#rest}"`);
      this.#rest += value;
    }
    const [line, ...rest] = this.#rest.split("\n");
    this.#rest = rest.join("\n");
    return JSON.parse(line);
  }

  /** Lets it go on, by the end of its input. */
  async goOn(): Promise<void> {
    await this.process.stdin.close();
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.stdin.close().catch(() => {});
    await this.#lines.cancel();
    await this.process.status;
  }
}

Deno.test("disk keeps the contract of file systems", () => {
  return inFolder((folder) => checkFileSystem(disk, folder));
});

Deno.test("disk tells a link and a directory from a file", () =>
  inFolder(async (folder) => {
    await Deno.symlink("/nowhere", join(folder, "link"));
    equal((await disk.facts(join(folder, "link"))).kind, "link");
    await rejects(disk.read(folder, 10), failsWith("other"));
    await Deno.writeTextFile(join(folder, "file"), "x");
    await rejects(disk.makeDirectory(join(folder, "file", "below")), failsWith("other"));
  }));

for (const umask of ["000", "077", "022"]) {
  Deno.test(`loadOrCreateIdentity writes a file of mode 0600 in a 0700 directory under umask ${umask}`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "new", "keys", "id");
      await using process = new Child("key", path, umask);
      await process.next();
      await process.goOn();
      const { peerId } = await process.next();
      equal((await disk.facts(path)).mode, 0o600);
      equal((await disk.facts(join(folder, "new", "keys"))).mode, 0o700);
      equal((await disk.facts(join(folder, "new"))).mode, 0o700);
      const loaded = await loadIdentity(path);
      equal(loaded?.identity.peerId, peerId);
      deepEqual(loaded?.warnings, []);
    }));
}

Deno.test("loadOrCreateIdentity gives processes that create at once one key", () =>
  inFolder(async (folder) => {
    const path = join(folder, "keys", "id");
    await using a = new Child("key", path);
    await using b = new Child("key", path);
    await Promise.all([a.next(), b.next()]);
    await Promise.all([a.goOn(), b.goOn()]);
    const said = await Promise.all([a.next(), b.next()]);
    equal(said[0].peerId, said[1].peerId);
    deepEqual(said.map(({ isNew }) => isNew).sort(), [false, true]);
    deepEqual(await disk.list(join(folder, "keys")), ["id"]);
  }));

Deno.test("loadOrCreateIdentity leaves a damaged file as it is and warns of an open one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "id");
    await Deno.writeTextFile(path, "damaged");
    const refused = (error: unknown) =>
      error instanceof OtelaError && error.code === "identity_damaged";
    await rejects(loadOrCreateIdentity(path), refused);
    equal(await Deno.readTextFile(path), "damaged");
    await Deno.writeFile(path, createIdentity().privateKeyProtobuf);
    await Deno.chmod(path, 0o644);
    match((await loadOrCreateIdentity(path)).warnings[0], /mode 644/);
  }));

Deno.test("loadIdentity finds the PeerId that the original prints for its own key file", async () => {
  // Written by the original for this test and used nowhere else.
  const path = fileURLToPath(new URL("../cases/inputs/original-rsa-key.bin", import.meta.url));
  const loaded = await loadIdentity(path);
  equal(loaded?.identity.peerId, "QmZBZQ9cJoSzNqJx1TRjfQuyXNsNrZnitCyACq7jZc9CxV");
});

Deno.test("C051: a second process on one instance is refused, and a killed one blocks nobody", () =>
  inFolder(async (folder) => {
    const path = join(folder, "lock");
    await using first = new Child("lock", path);
    const { pid, generation } = await first.next();
    equal(generation, 1);
    await using second = new Child("lock", path);
    const { code, message } = await second.next();
    equal(code, "instance_locked");
    match(String(message), new RegExp(`"${path}".*process ${pid} on host "${hostname()}"`));
    await first.kill();
    await using third = new Child("lock", path);
    equal((await third.next()).generation, 2);
  }));

Deno.test("C051: of two processes that take over from a killed one, one holds", () =>
  inFolder(async (folder) => {
    const path = join(folder, "lock");
    await using first = new Child("lock", path);
    await first.next();
    await first.kill();
    await using a = new Child("lock", path);
    await using b = new Child("lock", path);
    const said = await Promise.all([a.next(), b.next()]);
    equal(said.filter(({ generation }) => generation !== undefined).length, 1);
    equal(said.filter(({ code }) => code === "instance_locked").length, 1);
  }));

Deno.test("C072: a killed process on a host of another name blocks until its heartbeat is 30 s old", () =>
  inFolder(async (folder) => {
    const path = join(folder, "lock");
    await using first = new Child("lock", path);
    await first.next();
    await first.kill();
    const elsewhere = {
      self: async () => ({ ...await systemProcesses.self(), host: "elsewhere" }),
      stateOf: () => Promise.resolve("unknown" as const),
    };
    const options = { processes: elsewhere };
    const refused = (error: unknown) =>
      error instanceof OtelaError && error.code === "instance_locked";
    await rejects(acquireInstanceLock([path], options), refused);
    const longAgo = new Date(Date.now() - 31_000);
    await Deno.utime(join(path, "held-1"), longAgo, longAgo);
    await using lock = await acquireInstanceLock([path], options);
    equal(lock.held[0].generation, 2);
  }));

Deno.test("systemProcesses knows this process, an ended one, and one elsewhere", async () => {
  const self = await systemProcesses.self();
  ok(self.bootId !== "" && self.startTicks > 0 && self.pidNamespace !== "");
  equal(await systemProcesses.stateOf(self), "running");
  equal(await systemProcesses.stateOf({ ...self, startTicks: self.startTicks - 1 }), "gone");
  equal(await systemProcesses.stateOf({ ...self, host: "elsewhere" }), "unknown");
});

Deno.test("nextEpoch goes up by one from start to start", () =>
  inFolder(async (folder) => {
    const path = join(folder, "keys", "epoch");
    for (const epoch of [1, 2, 3]) {
      equal((await nextEpoch(path, 0, { nowMs: Date.now })).epoch, epoch);
    }
    deepEqual(await disk.list(join(folder, "keys")), ["epoch"]);
  }));

Deno.test("prepareSocketPath makes a place where a socket can listen, and refuses a link", () =>
  inFolder(async (folder) => {
    const uid = Deno.uid()!;
    const path = await prepareSocketPath([join(folder, "otela", "a.sock")], uid);
    Deno.listen({ transport: "unix", path }).close();
    equal(await prepareSocketPath([path], uid), path);
    Deno.listen({ transport: "unix", path }).close();
    await Deno.symlink(join(folder, "otela"), join(folder, "link"));
    const link = prepareSocketPath([join(folder, "link", "a.sock")], uid);
    await rejects(link, /is a symbolic link/);
  }));

Deno.test("disk makes folders for several at once, below parents that one of them makes", async () => {
  await inFolder(async (folder) => {
    for (let round = 0; round < 50; round++) {
      // Found by two files of one node, key and epoch: a parent that came between two looks was an error.
      const paths = ["a/b/c", "a/b/d", "a/e/f"].map((path) => join(folder, String(round), path));
      await Promise.all(paths.map((path) => disk.makeDirectory(path)));
    }
  });
});
