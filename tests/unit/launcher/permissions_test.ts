import { deepEqual } from "node:assert/strict";
import { loadConfig } from "../../../lib/config/load.ts";
import type { NodeConfig } from "../../../lib/config/node_config.ts";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { permissionsFor } from "../../../lib/launcher/permissions.ts";

function configOf(flags: Record<string, string | string[]>): NodeConfig {
  const readFile = () => undefined;
  return loadConfig({ flags, env: {}, readFile, home: "/home/ada", cwd: "/home/ada" }).config;
}

const peer = parsePeerId("12D3KooWKn4BZKsvdid2wBKQrfSAixf3oYCcArQiAsGWCTfoADvH");
const realPath = (path: string) => path;
const folders = { state: ["/state/default"], socketPath: "/run/otela/default.sock" };

Deno.test("permissionsFor grants a plain node its folder, its socket and the network, and no more", () => {
  const permissions = permissionsFor({
    config: configOf({}),
    folders,
    tools: {},
    peer,
    realPath,
  });
  deepEqual(permissions, {
    net: true,
    run: false,
    read: ["/run/otela/default.sock", "/state/default"],
    write: ["/run/otela/default.sock", "/state/default"],
    sys: ["hostname", "networkInterfaces", "cpus", "systemMemoryInfo"],
    env: false,
    ffi: false,
    import: false,
  });
});

Deno.test("permissionsFor grants the tools by the absolute paths found", () => {
  const tools = { "nvidia-smi": "/usr/bin/nvidia-smi", squeue: "/opt/slurm/bin/squeue" };
  const { run } = permissionsFor({
    config: configOf({}),
    folders,
    tools,
    peer,
    realPath,
  });
  deepEqual(run, ["/usr/bin/nvidia-smi", "/opt/slurm/bin/squeue"]);
});

Deno.test("permissionsFor grants what the configuration names: sockets, bootstrap files, keys, source", () => {
  const config = configOf({
    "service.name": "llm",
    "service.socket": "/run/vllm.sock",
    "bootstrap.source": ["file:/shared/head.addr"],
    "client.keys": "/etc/otela/keys",
  });
  const { read, write } = permissionsFor({
    config,
    folders,
    tools: {},
    peer,
    realPath,
  });
  const own = ["/run/otela/default.sock", "/run/vllm.sock", "/state/default"];
  deepEqual(write, own);
  deepEqual(read, ["/etc/otela/keys", ...own, "/shared/head.addr"].sort());
});

Deno.test("permissionsFor lets a head write its addresses, without opening the folder they are in", () => {
  const config = configOf({ role: "head", "bootstrap.write": "/home/ada/head.addr" });
  const { write } = permissionsFor({
    config,
    folders,
    tools: {},
    peer,
    realPath,
  });
  deepEqual(write, [
    "/home/ada/head.addr",
    "/home/ada/head.addr.CTfoADvH.new",
    "/run/otela/default.sock",
    "/state/default",
  ]);
});

Deno.test("permissionsFor grants what is behind a link too, as homes of clusters are links", () => {
  const { write } = permissionsFor({
    config: configOf({}),
    folders: { state: ["/home/ada/state"], socketPath: "/run/otela/default.sock" },
    tools: {},
    peer,
    realPath: (path) => path.replace("/home/", "/cluster/fs7/home/"),
  });
  deepEqual(write, ["/cluster/fs7/home/ada/state", "/home/ada/state", "/run/otela/default.sock"]);
});
