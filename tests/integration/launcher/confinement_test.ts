import { deepEqual } from "node:assert/strict";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { loadConfig } from "../../../lib/config/load.ts";
import { ownHelperThreads } from "../../../lib/platform/helper_threads.ts";
import { startNodeThread } from "../../../lib/launcher/node_thread.ts";
import { permissionsFor, realPathOf } from "../../../lib/launcher/permissions.ts";
import { assertConfined } from "../../support/confined.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 10_000;
Deno.test("The node thread is refused a shell, ~/.ssh, a foreign write, and the environment", async () => {
  const root = await Deno.makeTempDir();
  try {
    const results = await probe(root);
    assertConfined(results);
    deepEqual([...Deno.readDirSync(`${root}/home`)].map(({ name }) => name), [".ssh"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Runs the probe with exactly the permissions of a node whose folders are in `root`. */
async function probe(root: string): Promise<Record<string, string>> {
  const [home, state] = [`${root}/home`, `${root}/state`];
  await Deno.mkdir(`${home}/.ssh`, { recursive: true });
  await Deno.writeTextFile(`${home}/.ssh/id_ed25519`, "secret");
  await Deno.mkdir(state);
  const { config } = loadConfig({
    flags: {},
    env: {},
    readFile: () => undefined,
    home,
    cwd: home,
  });
  const done = Promise.withResolvers<Record<string, string>>();
  const node = startNodeThread({
    entry: new URL("../../support/threads/probe.ts", import.meta.url),
    permissions: permissionsFor({
      config,
      folders: { state: [state], socketPath: `${root}/door.sock` },
      peer: parsePeerId("12D3KooWKn4BZKsvdid2wBKQrfSAixf3oYCcArQiAsGWCTfoADvH"),
      tools: { squeue: "/usr/bin/true" },
      realPath: realPathOf,
    }),
    helpers: ownHelperThreads,
    start: {
      type: "start",
      environment: { HOME: home },
      places: { instanceDir: state },
    } as never,
    onEvent: ({ fields }) => done.resolve(fields as Record<string, string>),
  });
  node.ended.catch(done.reject);
  const results = await within(deadlineMs, done.promise);
  node.stop("test", 0);
  await within(deadlineMs, node.ended);
  return results;
}
