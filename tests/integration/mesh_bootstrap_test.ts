// Does a node find its mesh, whatever it was told and whenever the others come?
import { deepEqual, equal, ok } from "node:assert/strict";
import { type Log, silentLog } from "../../lib/base/ports.ts";
import { startMesh } from "../../lib/mesh/mesh.ts";
import { readBootstrapFile, writeBootstrapFile } from "../../lib/mesh/bootstrap_file.ts";
import { resolveBootstrap } from "../../lib/mesh/bootstrap_resolve.ts";
import { connected, until } from "../support/mesh_events.ts";
import { meshOptions, meshTest, newPrivateKey, withMeshes } from "../support/mesh_fixture.ts";
import { within } from "../support/within.ts";

function recordWarnings(): { log: Log; warnings: Record<string, unknown>[] } {
  const warnings: Record<string, unknown>[] = [];
  const warn = (event: string, fields = {}) => void warnings.push({ event, ...fields });
  return { log: { ...silentLog, warn }, warnings };
}

async function withTempDir(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

meshTest(
  "Mesh joins by a multiaddr, with and without a PeerId, and skips bad entries",
  async () => {
    await withMeshes([{}], async ([head]) => {
      const { log, warnings } = recordWarnings();
      const [address] = head.addresses();
      const worker = { role: "worker", log } as const;
      await withMeshes([
        { ...worker, bootstrap: ["", "no address", ...head.multiaddrs()] },
        { ...worker, bootstrap: ["/ip4/1.2.3.4/udp/1", address] },
      ], async (workers) => {
        for (const each of workers) {
          await within(5_000, each.joined);
          ok(each.isConnected(head.peerId));
          equal(each.isAlone(), false);
        }
        const skipped = warnings.filter(({ event }) => event === "bootstrap.skipped");
        deepEqual(skipped.map(({ entry }) => entry), ["", "no address", "/ip4/1.2.3.4/udp/1"]);
      });
    });
  },
);

meshTest("Mesh joins by a URL whose list has empty and broken entries", async () => {
  await withMeshes([{}], async ([head]) => {
    const bootstraps = ["", 7, "/ip4/300.1.1.1/tcp/1", ...head.multiaddrs(), head.addresses()[0]];
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => Response.json({ bootstraps }),
    );
    const url = `http://127.0.0.1:${server.addr.port}/v1/dnt/bootstraps`;
    await withMeshes([{ bootstrap: [url] }], ([worker]) => within(5_000, worker.joined));
    await server.shutdown();
  });
});

meshTest(
  "B78: Mesh joins by a later source when earlier ones answer nonsense, or not at all",
  async () => {
    await withMeshes([{}], async ([head]) => {
      const answers: Record<string, Response> = {
        "/text": new Response("{ not json"),
        "/other": Response.json({ peers: [] }),
        "/error": new Response("", { status: 500 }),
        "/good": Response.json({ bootstraps: head.multiaddrs() }),
      };
      await using server = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen: () => {} },
        (request) => answers[new URL(request.url).pathname].clone(),
      );
      const { log, warnings } = recordWarnings();
      const urls = Object.keys(answers).map((path) =>
        `http://127.0.0.1:${server.addr.port}${path}`
      );
      const bootstrap = ["http://127.0.0.1:1/", ...urls];
      await withMeshes([{ bootstrap, log }], ([worker]) => within(5_000, worker.joined));
      const failed = warnings.filter(({ event }) => event === "bootstrap.source_failed");
      deepEqual(failed.map(({ source }) => source).sort(), bootstrap.slice(0, -1).sort());
    });
  },
);

meshTest(
  "B43: Mesh without a reachable bootstrap says it is alone and joins when it comes up",
  async () => {
    const privateKeyProtobuf = newPrivateKey();
    const first = await startMesh(meshOptions({ privateKeyProtobuf }));
    const listen = first.addresses();
    const bootstrap = first.multiaddrs();
    await first.close();
    await withMeshes([{ bootstrap, role: "worker" }], async ([worker]) => {
      await until(() => worker.isAlone());
      await withMeshes([{ privateKeyProtobuf, listen }], async ([head]) => {
        await within(8_000, worker.joined);
        ok(worker.isConnected(head.peerId));
        equal(worker.isAlone(), false);
      });
    });
  },
);

meshTest(
  "B70: Mesh tells the address that was configured, and of this machine's none in its place",
  async () => {
    const announce = ["/ip4/203.0.113.7/tcp/43905"];
    await withMeshes([{ announce }, {}], ([open, local]) => {
      deepEqual(open.addresses(), announce);
      equal(local.addresses().length, 1); // On one machine there is nothing else.
      return Promise.resolve();
    });
  },
);

meshTest("Mesh finds a lost bootstrap again", async () => {
  const privateKeyProtobuf = newPrivateKey();
  const first = await startMesh(meshOptions({ privateKeyProtobuf }));
  const [listen, bootstrap] = [first.addresses(), first.multiaddrs()];
  await withMeshes([{ bootstrap, role: "worker" }], async ([worker]) => {
    await within(5_000, worker.joined);
    await first.close();
    await until(() => worker.connectedPeers().length === 0);
    await withMeshes([{ privateKeyProtobuf, listen }], async ([again]) => {
      await connected(worker, again, 8_000);
    });
  });
});

meshTest("Mesh joins by a file that a head writes later, and that two heads share", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/heads.json`;
    await withMeshes([{ bootstrap: [`file:${path}`], role: "worker" }], async ([worker]) => {
      await until(() => worker.isAlone());
      await withMeshes([{ bootstrapWrite: path }], async ([head]) => {
        await connected(worker, head);
        await withMeshes([{ bootstrapWrite: path }], async ([second]) => {
          const all = [...head.multiaddrs(), ...second.multiaddrs()].sort();
          let listed: string[] = [];
          while (listed.length < all.length) listed = await readBootstrapFile(path);
          deepEqual(listed.sort(), all);
        });
      });
    });
    deepEqual(await readBootstrapFile(path), []);
  });
});

meshTest("writeBootstrapFile replaces its own entries and a damaged file", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/heads.json`;
    await Deno.writeTextFile(path, "{ not json");
    await writeBootstrapFile(path, "A", ["/ip4/1.1.1.1/tcp/1/p2p/A"]);
    await writeBootstrapFile(path, "B", ["/ip4/2.2.2.2/tcp/1/p2p/B"]);
    await writeBootstrapFile(path, "A", ["/ip4/3.3.3.3/tcp/1/p2p/A"]);
    const listed = await readBootstrapFile(path);
    deepEqual(listed, ["/ip4/3.3.3.3/tcp/1/p2p/A", "/ip4/2.2.2.2/tcp/1/p2p/B"]);
    deepEqual([...Deno.readDirSync(dir)].map(({ name }) => name), ["heads.json"]);
  });
});

meshTest("resolveBootstrap follows dnsaddr records a few levels and no further", async () => {
  const records: Record<string, string[][]> = {
    "_dnsaddr.example.org": [
      ["dnsaddr=/ip4/1.2.3.4", "/tcp/1/p2p/A"],
      ["dnsaddr=/dnsaddr/b.example.org"],
      ["v=spf1 -all"],
    ],
    "_dnsaddr.b.example.org": [
      ["dnsaddr=/ip4/1.2.3.4/tcp/1/p2p/B"],
      ["dnsaddr=/dnsaddr/example.org"],
    ],
  };
  let asked = 0;
  const txt = (name: string) => {
    asked++;
    return Promise.resolve(records[name]);
  };
  const source = { kind: "dnsaddr", host: "example.org", peer: undefined } as const;
  const found = await resolveBootstrap(source, txt);
  deepEqual([...new Set(found)], ["/ip4/1.2.3.4/tcp/1/p2p/A", "/ip4/1.2.3.4/tcp/1/p2p/B"]);
  equal(asked, 3);
});
