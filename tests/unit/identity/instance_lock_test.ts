import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import { lockDirectory } from "../../../lib/identity/directory_lock.ts";
import { FileError, type FileFailure } from "../../../lib/identity/file_system.ts";
import { acquireInstanceLock, type InstanceLock } from "../../../lib/identity/instance_lock.ts";
import {
  judgeProcess,
  type Processes,
  type ProcessMark,
} from "../../../lib/identity/process_mark.ts";
import { type FileOperation, MemoryFiles } from "./memory_files.ts";

const directory = "/state/lock";

/** Made-up hosts and processes on one shared file system. */
class World {
  readonly files = new MemoryFiles();
  readonly running = new Map<string, ProcessMark>();
  readonly warnings: string[] = [];

  start(host: string, pid: number): Processes {
    const self = { host, bootId: `boot of ${host}`, pidNamespace: "n", pid, startTicks: 100 + pid };
    this.running.set(`${host} ${pid}`, self);
    const stateOf = (mark: ProcessMark) => {
      const found = this.running.get(`${host} ${mark.pid}`);
      const stat = found && { state: "S", startTicks: found.startTicks };
      return Promise.resolve(judgeProcess(mark, self, stat));
    };
    return { self: () => Promise.resolve(self), stateOf };
  }

  kill(host: string, pid: number): void {
    this.running.delete(`${host} ${pid}`);
  }

  lock(processes: Processes, heartbeatEveryMs = 3_600_000): Promise<InstanceLock> {
    const warn = (warning: string) => this.warnings.push(warning);
    return acquireInstanceLock([directory], {
      files: this.files,
      processes,
      warn,
      heartbeatEveryMs,
    });
  }
}

function fails(code: string, reason: RegExp): (error: unknown) => boolean {
  return (error) => {
    match(String(error), reason);
    return error instanceof OtelaError && error.code === code;
  };
}

Deno.test("acquireInstanceLock refuses a second process on the same host, naming pid, host and directory", async () => {
  const world = new World();
  await using _held = await world.lock(world.start("a", 1));
  const refused =
    /Cannot use "\/state\/lock" .* process 1 on host "a" does; stop it, or start with another --instance$/;
  await rejects(world.lock(world.start("a", 2)), fails("instance_locked", refused));
});

Deno.test("acquireInstanceLock takes over at once from a dead process, a reused pid and one that let go", async () => {
  const world = new World();
  const first = await world.lock(world.start("a", 1));
  world.kill("a", 1);
  const second = await world.lock(world.start("a", 2));
  world.running.set("a 2", { ...(await world.start("a", 2).self()), startTicks: 999 });
  const third = await world.lock(world.start("a", 3));
  await third.release();
  const fourth = await world.lock(world.start("b", 1));
  deepEqual([first, second, third, fourth].map(({ held }) => held[0].generation), [1, 2, 3, 4]);
  deepEqual(world.files.paths(), ["/state/lock/held-4"]);
  await Promise.all([first, second, fourth].map((lock) => lock.release()));
});

Deno.test("C072: a holder on another host blocks for 30 s after its last heartbeat, by the disk's clock, and no longer", async () => {
  const world = new World();
  const first = await world.lock(world.start("a", 1));
  world.kill("a", 1);
  world.files.nowMs += 30_000;
  await rejects(
    world.lock(world.start("b", 1)),
    fails("instance_locked", /if it is dead, try again in 1 s/),
  );
  world.files.nowMs += 1;
  const second = await world.lock(world.start("b", 1));
  equal(second.held[0].generation, 2);
  await Promise.all([first, second].map((lock) => lock.release()));
});

Deno.test("C072: two that take over a dead process's lock at once end with one holder", async () => {
  for (let round = 0; round < 50; round++) {
    const world = new World();
    const first = await world.lock(world.start("a", 1));
    world.kill("a", 1);
    world.files.nowMs += 60_000;
    const hosts = ["a", "a", "b", "b", "c"];
    const tries = await Promise.allSettled(
      hosts.map((host, n) => world.lock(world.start(host, n + 2))),
    );
    const winners = tries.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
    const losers = tries.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
    equal(winners.length, 1);
    ok(losers.every((error) => error instanceof OtelaError && error.code === "instance_locked"));
    await Promise.all([first, ...winners].map((lock) => lock.release()));
  }
});

Deno.test("C072: a process that stood still while others came and went does not begin below them", async () => {
  const world = new World();
  await (await world.lock(world.start("a", 1))).release();
  // It saw generation 1 released, and will try to create generation 2 after others have had 2 and 3.
  const [late, go] = [world.start("b", 1), Promise.withResolvers<void>()];
  const files = world.files;
  const stalled = Object.assign(Object.create(files) as MemoryFiles, {
    link: async (from: string, to: string) => {
      await go.promise;
      await files.link(from, to);
    },
  });
  for (const name of ["read", "create", "remove", "list", "facts", "makeDirectory"] as const) {
    Object.assign(stalled, { [name]: (files[name] as () => unknown).bind(files) });
  }
  const ports = {
    files: stalled,
    processes: late,
    self: await late.self(),
    token: "late",
    staleAfterMs: 30_000,
  };
  const slow = lockDirectory(directory, ports);
  await (await world.lock(world.start("c", 1))).release();
  const holder = await world.lock(world.start("c", 2));
  equal(holder.held[0].generation, 3);
  go.resolve();
  await rejects(slow, fails("instance_locked", /process 2 on host "c"/));
  deepEqual(files.paths(), ["/state/lock/held-3"]);
  await holder.release();
});

const unsupported: FileOperation[][] = [["link"], ["link", "create"]];
for (const operations of unsupported) {
  Deno.test(`C072: a file system without ${operations.join(" and ")} does not stop the start`, async () => {
    const world = new World();
    for (const operation of operations) world.files.fail(operation, "unsupported");
    await using lock = await world.lock(world.start("a", 1));
    const isGuarded = operations.length === 1;
    equal(lock.held.length, isGuarded ? 1 : 0);
    equal(world.warnings.length, isGuarded ? 0 : 1);
    if (!isGuarded) match(world.warnings[0], /cannot lock: let only one node use it/);
    else await rejects(world.lock(world.start("a", 2)), fails("instance_locked", /process 1/));
  });
}

const passing: [FileOperation, FileFailure][] = [["link", "stale"], ["list", "stale"], [
  "facts",
  "stale",
]];
for (const [operation, failure] of passing) {
  Deno.test(`C072: ${operation} is asked again when the network file system is ${failure}`, async () => {
    const world = new World();
    world.files.fail(operation, failure, 2);
    await using lock = await world.lock(world.start("a", 1));
    equal(lock.held.length, 1);
  });
}

Deno.test("C072: a link whose answer was lost on the way holds all the same", async () => {
  const world = new World();
  const link = world.files.link.bind(world.files);
  let isFirst = true;
  world.files.link = async (from, to) => {
    await link(from, to);
    if (isFirst) {
      isFirst = false;
      throw new FileError("stale", to, "the answer was lost");
    }
  };
  await using lock = await world.lock(world.start("a", 1));
  equal(lock.held[0].generation, 1);
});

const hopeless: [FileOperation, FileFailure][] = [
  ["link", "other"],
  ["link", "stale"],
  ["create", "denied"],
  ["list", "other"],
  ["makeDirectory", "denied"],
];
for (const [operation, failure] of hopeless) {
  Deno.test(`C072: ${operation} that fails for good (${failure}) is an error with the directory, not a crash`, async () => {
    const world = new World();
    world.files.fail(operation, failure);
    const refused = fails("state_unusable", /Cannot lock "\/state\/lock"/);
    await rejects(world.lock(world.start("a", 1)), refused);
    deepEqual(world.files.paths(), []);
  });
}

Deno.test("InstanceLock gives back once, and giving back is no loss", async () => {
  const world = new World();
  const lock = await world.lock(world.start("a", 1));
  await lock.release();
  const callCount = world.files.calls.length;
  await lock.release();
  equal(world.files.calls.length, callCount);
  equal(lock.lost.aborted, false);
});

Deno.test("acquireInstanceLock judges a record that is not whole by its age", async () => {
  const world = new World();
  world.files.putDirectory("/state", {});
  world.files.putDirectory(directory, {});
  world.files.put(`${directory}/held-5`, "{");
  await rejects(world.lock(world.start("a", 1)), fails("instance_locked", /another process does/));
  world.files.nowMs += 30_001;
  await using lock = await world.lock(world.start("a", 1));
  equal(lock.held[0].generation, 6);
});

Deno.test("acquireInstanceLock takes all directories or none", async () => {
  const world = new World();
  await using _held = await world.lock(world.start("a", 1));
  const both = acquireInstanceLock(["/other", directory], {
    files: world.files,
    processes: world.start("a", 2),
  });
  await rejects(both, fails("instance_locked", /process 1/));
  await using other = await acquireInstanceLock(["/other", "/other"], {
    files: world.files,
    processes: world.start("a", 3),
  });
  equal(other.held.length, 1);
});

Deno.test("InstanceLock renews its file, and learns that another took over while it stood still", async () => {
  const world = new World();
  const first = await world.lock(world.start("a", 1), 1);
  const heartbeat = () =>
    JSON.parse(world.files.text(`${directory}/held-1`) ?? "{}").heartbeat ?? 0;
  await until(() => heartbeat() > 2);
  equal(first.lost.aborted, false);
  // By the disk's clock nothing was heard for a minute, as when a process is stopped and goes on later.
  world.files.fail("rename", "other");
  world.files.nowMs += 60_000;
  await until(() => world.warnings.length > 0);
  match(world.warnings[0], /could not be renewed/);
  const second = world.start("b", 1);
  const ports = {
    files: world.files,
    processes: second,
    self: await second.self(),
    token: "second",
    staleAfterMs: 30_000,
  };
  equal(await lockDirectory(directory, ports), 2);
  await until(() => first.lost.aborted);
  ok(world.warnings.some((warning) => /Another process took over/.test(warning)));
  await first.release();
  deepEqual(world.files.paths(), [`${directory}/held-2`]);
});

/** Waits for the timer of the lock, with a deadline. */
async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!holds()) {
    ok(performance.now() < deadline, "it must happen within 5 s");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
