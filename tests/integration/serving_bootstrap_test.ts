// How do nodes come into their mesh, and who stays out?
import { equal, match, ok } from "node:assert/strict";
import { askChat } from "../support/ask_chat.ts";
import { startEngine } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { type NodeProcess, startNode } from "../support/node_process.ts";
import { statusOf } from "../support/node_status.ts";
import { onLoopback, serviceArgs, startProcessMesh, untilServed } from "../support/process_mesh.ts";
import { tableAt } from "../support/table_at.ts";

const deadlineMs = 10_000;

/** Waits for a record of a node's log. */
function logged(node: NodeProcess, pattern: RegExp): Promise<string> {
  return node.program.stderr.waitFor((line) => pattern.exec(line)?.[0], deadlineMs);
}

async function readiness(node: NodeProcess): Promise<unknown> {
  return await (await fetch(`${node.http}/v1/ready`)).json();
}

async function withHome(use: (home: (name: string) => string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  const home = (name: string) => {
    Deno.mkdirSync(`${root}/${name}`, { recursive: true });
    return `${root}/${name}`;
  };
  try {
    await use(home);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("a worker whose only bootstrap is down is ready, says that it is alone, and joins when it comes up", async () => {
  await withHome(async (home) => {
    const headArgs = [...onLoopback, "--role", "head"];
    const before = await startNode({ home: home("head"), args: headArgs });
    await before.program.end();
    const engine = startEngine();
    try {
      const [address] = before.multiaddrs;
      await using worker = await startNode({
        home: home("worker"),
        args: [...onLoopback, "--bootstrap.source", address, ...serviceArgs(engine)],
      });
      equal(JSON.stringify(await readiness(worker)), '{"status":"ready","mesh":"alone"}');
      await logged(worker, /mesh\.alone bootstraps=1/);
      match((await statusOf(home("worker"))).warnings.join(), /No bootstrap answers/);
      const own = await askChat(worker.http, "test-model");
      equal(own.worker, worker.peerId);

      const port = address.split("/")[4];
      await using head = await startNode({
        home: home("head"),
        args: [...headArgs, "--port", "0", "--tcpport", port],
        ports: "default",
      });
      await untilServed(head, ["test-model"], [worker], deadlineMs);
      equal((await askChat(head.http, "test-model")).worker, worker.peerId);
      equal(JSON.stringify(await readiness(worker)), '{"status":"ready","mesh":"joined"}');
      equal((await statusOf(home("worker"))).warnings.join(), "");
    } finally {
      await engine.stop();
    }
  });
});

Deno.test("B81: a wrong secret, none, and another network's name are refused, and both sides say so", async (t) => {
  const secrets = await Deno.makeTempDir();
  try {
    const secretArgs = (name: string) => {
      Deno.writeTextFileSync(`${secrets}/${name}`, `${name} battery staple\n`, { mode: 0o600 });
      return ["--network.secret_file", `${secrets}/${name}`];
    };
    const right = secretArgs("horse");
    await using mesh = await startProcessMesh([{}], { headArgs: right, workerArgs: right });
    const strangers: [string, string[], RegExp, RegExp][] = [
      [
        "a wrong secret",
        secretArgs("mule"),
        /admission\.refused .*reason=refused_by_peer/,
        /refuses this node.*network\.secret/,
      ],
      [
        "no secret",
        [],
        /admission\.refused .*reason=refused_by_peer/,
        /refuses this node.*network\.secret/,
      ],
      [
        "another network",
        [...right, "--network", "elsewhere"],
        /admission\.refused .*reason=refused_other_network/,
        /another network.*network\.name/,
      ],
    ];
    for (const [what, args, record, warning] of strangers) {
      await t.step(what, async () => {
        const name = what.replaceAll(" ", "-");
        const node = await mesh.startNode(name, [...mesh.join, ...args]);
        await logged(node, record);
        equal(JSON.stringify(await readiness(node)), '{"status":"ready","mesh":"alone"}');
        match((await statusOf(`${mesh.home}/${name}`)).warnings.join(), warning);
        equal(Object.keys(await tableAt(node)).length, 1);
        await node.kill();
      });
    }
    await t.step("the head says whom it refused, and lists none of them", async () => {
      await logged(mesh.head, /admission\.refused .*reason=refused_wrong_secret/);
      equal(Object.keys(await tableAt(mesh.head)).length, 2);
      equal((await askChat(mesh.head.http, "test-model")).status, 200);
    });
  } finally {
    await Deno.remove(secrets, { recursive: true });
  }
});

Deno.test("a head has its table back after a restart without cleanslate, and an empty one with it", async () => {
  await using mesh = await startProcessMesh([{}]);
  const [{ node: worker }] = mesh.workers;
  await mesh.head.program.end();
  await worker.kill();
  const restarted = async (cleanslate: string) => {
    await using head = await mesh.startNode("head", [
      ...onLoopback,
      ...["--role", "head", `--cleanslate=${cleanslate}`],
    ]);
    // What the snapshot holds is looked at in the turns after the start.
    if (cleanslate === "false") {
      await eventually(async () => Object.keys(await tableAt(head)).length === 2);
    }
    const table = await tableAt(head);
    const answer = await askChat(head.http, "test-model");
    await head.program.end();
    return { ids: Object.keys(table), row: table[`/${worker.peerId}`], answer };
  };
  const kept = await restarted("false");
  equal(kept.row.service[0].name, "llm");
  ok(kept.row.status !== "alive");
  equal(kept.answer.status, 503); // It was here and may come back.
  const dropped = await restarted("true");
  equal(dropped.ids.join(), `/${mesh.head.peerId}`);
  equal(dropped.answer.code, "no_such_service");
  equal((await restarted("true")).ids.length, 1);
});

Deno.test("C074: a node moves from busy default ports of both doors, says so, and is found where it is", async () => {
  const taken = [8_092, 43_905].map((port) => {
    try {
      return Deno.listen({ hostname: "127.0.0.1", port });
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) return undefined; // Somebody else's will do.
      throw error;
    }
  });
  try {
    await withHome(async (home) => {
      await using head = await startNode({
        home: home("head"),
        args: [...onLoopback, "--role", "head"],
        ports: "default",
      });
      await logged(head, /door\.moved wanted=8092/);
      await logged(head, /mesh\.moved role=head busy=43905/);
      ok(!head.http.endsWith(":8092"));
      ok(!head.multiaddrs[0].includes("/tcp/43905/"));
      await using worker = await startNode({
        home: home("worker"),
        args: [...onLoopback, "--bootstrap.source", head.multiaddrs[0]],
      });
      await eventually(async () => `/${worker.peerId}` in await tableAt(head));
    });
  } finally {
    for (const listener of taken) listener?.close();
  }
});
