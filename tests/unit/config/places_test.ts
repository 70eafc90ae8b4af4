import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { type PlaceFacts, resolvePlaces } from "../../../lib/config/places.ts";

const facts: PlaceFacts = {
  root: null,
  configDir: null,
  instance: null,
  env: {},
  home: "/home/ada",
  hostname: "node7.cluster.example",
  uid: 1000,
};

Deno.test("resolvePlaces keeps the default instance's key where the original has it", () => {
  const places = resolvePlaces(facts);
  equal(places.instance, "default");
  equal(places.isEphemeral, false);
  equal(places.keyFile, "/home/ada/.config/opentela/keys/id");
  equal(places.epochFile, "/home/ada/.config/opentela/keys/epoch");
  equal(places.instanceDir, "/home/ada/.local/state/opentela/instances/default");
  deepEqual(places.lockDirs, [
    "/home/ada/.local/state/opentela/instances/default/lock",
    "/home/ada/.config/opentela/keys/lock",
  ]);
  equal(resolvePlaces({ ...facts, configDir: "/c" }).keyFile, "/c/keys/id");
});

Deno.test("resolvePlaces takes the state root from the setting, XDG, or the home, in this order", () => {
  const env = { XDG_STATE_HOME: "/xdg" };
  equal(resolvePlaces({ ...facts, env, root: "/s" }).stateRoot, "/s");
  equal(resolvePlaces({ ...facts, env }).stateRoot, "/xdg/opentela");
  equal(
    resolvePlaces({ ...facts, env: { XDG_STATE_HOME: "rel" } }).stateRoot,
    "/home/ada/.local/state/opentela",
  );
});

Deno.test("resolvePlaces gives a named instance everything of its own", () => {
  const places = resolvePlaces({
    ...facts,
    root: "/s",
    instance: "b",
    configDir: "/c",
    home: null,
  });
  equal(places.keyFile, "/s/instances/b/keys/id");
  equal(places.isEphemeral, false);
  for (const path of [places.epochFile, places.snapshotFile, ...places.lockDirs]) {
    ok(path.startsWith("/s/instances/b/"));
  }
});

Deno.test("C051: each task of a Slurm job on one shared home is an instance with a key of its own", () => {
  const task = (task: string, rank: string) => ({
    ...facts,
    env: { SLURM_JOB_ID: "42", SLURM_ARRAY_TASK_ID: task, SLURM_PROCID: rank },
  });
  const keys = new Set(
    ["0", "1", "2", "3"].flatMap((array) =>
      Array.from({ length: 10 }, (_, rank) => resolvePlaces(task(array, String(rank))).keyFile)
    ),
  );
  equal(keys.size, 40);
  const places = resolvePlaces({
    ...task("3", "7"),
    env: { ...task("3", "7").env, SLURM_RESTART_COUNT: "1" },
  });
  equal(places.instance, "42-3-7-r1-node7");
  equal(places.isEphemeral, true);
  equal(resolvePlaces({ ...task("3", "7"), instance: "mine" }).isEphemeral, false);
});

Deno.test("resolvePlaces keeps hostile Slurm variables out of the path", () => {
  const env = { SLURM_JOB_ID: "../../etc", SLURM_PROCID: "a/b" };
  const { instanceDir } = resolvePlaces({ ...facts, root: "/s", env });
  equal(instanceDir, "/s/instances/.._.._etc-0-a_b-r0-node7");
});

Deno.test("resolvePlaces offers only socket paths that the kernel takes, other ones for other instances", () => {
  const runtime = `/run/${"x".repeat(90)}`;
  deepEqual(resolvePlaces({ ...facts, env: { XDG_RUNTIME_DIR: runtime } }).socketPaths.length, 1);
  const env = { XDG_RUNTIME_DIR: "/run/user/1000" };
  const a = resolvePlaces({ ...facts, env, root: `/${"deep/".repeat(40)}` }).socketPaths;
  equal(a.length, 2);
  ok(a[0].startsWith("/run/user/1000/otela/") && a[1].startsWith("/tmp/otela-1000/"));
  ok(a.every((path) => path.length <= 107));
  const b = resolvePlaces({ ...facts, env, root: "/other" }).socketPaths;
  ok(a[0] !== b[0]);
});

Deno.test("resolvePlaces says what is missing when there is no home", () => {
  throws(() => resolvePlaces({ ...facts, home: null }), /HOME must be set or --state-dir given/);
  throws(() => resolvePlaces({ ...facts, home: null, root: "/s" }), /--config-dir/);
});
