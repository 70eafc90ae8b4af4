import { deepEqual, equal } from "node:assert/strict";
import { runOtela, startNode } from "../support/node_process.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];

/** Names of everything below a folder, sorted. */
function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`).map((below) => `${name}/${below}`) : [name]
  ).sort();
}

Deno.test("A node is the peer that init told, and writes nothing into the configuration", async () => {
  const home = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  try {
    const init = runOtela(["init", "--json"], { home });
    equal((await within(deadlineMs, init.ended)).code, 0);
    const { peer_id, config_file } = JSON.parse(init.stdout.text);
    const before = await Deno.readTextFile(config_file);
    await using node = await startNode({ home, args: onLoopback });
    equal(node.peerId, peer_id);
    node.program.signal("SIGTERM");
    equal((await within(deadlineMs, node.program.ended)).code, 0);
    equal(await Deno.readTextFile(config_file), before);
    const outside = filesBelow(`${home}/.config/opentela`)
      .filter((name) => !name.startsWith("keys/"));
    deepEqual(outside, ["cfg.yaml"]);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
