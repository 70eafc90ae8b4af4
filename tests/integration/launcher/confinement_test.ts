import { deepEqual, equal, match } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { loadConfig } from "../../../lib/config/load.ts";
import { startNodeThread } from "../../../lib/launcher/node_thread.ts";
import { permissionsFor, realPathOf } from "../../../lib/launcher/permissions.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 10_000;
/** What a node must be able to do; everything else that the probe tries must be refused. */
const needed = ["stateWrite", "stateRead", "network", "socket", "hostname"];

Deno.test("The node thread is refused a shell, ~/.ssh, a foreign write, and the environment", async () => {
  const root = await Deno.makeTempDir();
  try {
    const results = await probe(root);
    for (const [name, result] of Object.entries(results)) {
      if (needed.includes(name)) equal(result, "allowed", name);
      else if (name === "processEnvironment") match(result, /process.env is empty/);
      else {match(
          result,
          /^(NotCapable|PermissionDenied|TypeError: Requires import access)/,
          `${name}: ${result}`,
        );}
    }
    deepEqual([...Deno.readDirSync(`${root}/foreign`)], []);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Runs the probe with exactly the permissions of a node whose folders are in `root`. */
async function probe(root: string): Promise<Record<string, string>> {
  const [home, state, foreign] = [`${root}/home`, `${root}/state`, `${root}/foreign`];
  await Deno.mkdir(`${home}/.ssh`, { recursive: true });
  await Deno.writeTextFile(`${home}/.ssh/id_ed25519`, "secret");
  await Deno.mkdir(state);
  await Deno.mkdir(foreign);
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
      sourceFolder: fileURLToPath(new URL("../../../lib", import.meta.url)),
      realPath: realPathOf,
    }),
    start: {
      type: "start",
      environment: { HOME: home, STATE: state, FOREIGN: `${foreign}/file` },
    } as never,
    onEvent: ({ fields }) => done.resolve(fields as Record<string, string>),
  });
  node.ended.catch(done.reject);
  const results = await within(deadlineMs, done.promise);
  node.stop("test", 0);
  await within(deadlineMs, node.ended);
  return results;
}
