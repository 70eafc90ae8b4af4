import { deepEqual, equal } from "node:assert/strict";
import { loadConfig } from "../../../lib/config/load.ts";
import { resolvePlaces } from "../../../lib/config/places.ts";
import { readConfigFile } from "../../../lib/config/read_file.ts";
import { launchNode } from "../../../lib/launcher/launch.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 20_000;

Deno.test("launchNode runs a node in a thread of this process, which ends it again", async () => {
  const home = await Deno.makeTempDir({ prefix: "otela-launch-" });
  try {
    const { config } = loadConfig({
      flags: { port: "0", tcpport: "0", host: "127.0.0.1", "mesh.hosts": "127.0.0.1" },
      env: {},
      readFile: readConfigFile,
      home,
      cwd: home,
    });
    const env = { XDG_RUNTIME_DIR: home };
    const uid = Deno.uid() ?? 0;
    const places = resolvePlaces({ ...config.state, env, home, hostname: "ada", uid });
    const warnings: string[] = [];
    {
      await using node = await launchNode({
        config,
        places,
        version: { otela: "0.0.0", deno: Deno.version.deno, target: Deno.build.target },
        env,
        warn: (warning) => warnings.push(warning),
        onEvent: () => {},
      });
      const { http } = await within(deadlineMs, node.thread.ready);
      const models = await (await fetch(`${http}/v1/models`)).json();
      deepEqual(models, { object: "list", data: [] });
      node.thread.stop("test", 0);
      equal(await within(deadlineMs, node.thread.ended), "stopped");
    }
    deepEqual(warnings, []);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
