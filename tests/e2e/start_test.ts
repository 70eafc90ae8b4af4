import { deepEqual, equal, match } from "node:assert/strict";
import { runnableCommands } from "../../cli/commands.ts";
import { together } from "../../deploy/together.ts";
import { nodeEnvironment, runOtela, sourceCommand, startNode } from "../support/node_process.ts";
import { Program } from "../support/program.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];

async function withHome(use: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  try {
    await use(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("start --json says first that it is ready, commands find it, and TERM ends it with 0", async () => {
  await withHome(async (home) => {
    await using node = await startNode({ home, args: onLoopback });
    deepEqual(Object.keys(node.ready), ["event", "peer_id", "http", "multiaddrs"]);
    match(node.multiaddrs[0], new RegExp(`^/ip4/127.0.0.1/tcp/\\d+/p2p/${node.peerId}$`));
    equal((await (await fetch(`${node.http}/v1/health`)).body?.cancel(), 200), 200);

    const peerId = runOtela(["peer-id"], { home });
    equal((await within(deadlineMs, peerId.ended)).code, 0);
    equal(peerId.stdout.text, node.peerId);

    const status = runOtela(["status", "--json"], { home });
    equal((await within(deadlineMs, status.ended)).code, 0);
    equal(JSON.parse(status.stdout.text).peer_id, node.peerId);

    node.program.signal("SIGTERM");
    const { code } = await within(deadlineMs, node.program.ended);
    equal(code, 0);

    const after = runOtela(["status"], { home });
    equal((await within(deadlineMs, after.ended)).code, 5);
  });
});

Deno.test("start exits with 3 while another process runs the instance, and starts once that one was killed", async () => {
  await withHome(async (home) => {
    const first = await startNode({ home, args: onLoopback });
    try {
      const second = runOtela(["start", "--port", "0", "--tcpport", "0"], { home });
      equal((await within(deadlineMs, second.ended)).code, 3);
      match(second.stderr.text, new RegExp(`^otela: .*process ${first.program.pid} `));
      equal(second.stderr.text.split("\n").length, 1);
    } finally {
      await first.kill();
    }
    await using again = await startNode({ home, args: onLoopback, readyMs: 10_000 });
    equal(again.peerId, first.peerId);
  });
});

Deno.test("start prints for people where clients and peers find the node", async () => {
  await withHome(async (home) => {
    await using program = runOtela(
      ["start", "--port", "0", "--tcpport", "0", ...onLoopback],
      { home },
    );
    const line = (pattern: RegExp) =>
      program.stdout.waitFor((text) => pattern.exec(text)?.[0], deadlineMs);
    await line(/^ready\s+12D3KooW\w{44}$/);
    await line(/^clients\s+http:\/\/127\.0\.0\.1:\d+$/);
    await line(/^address\s+\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/12D3KooW\w{44}$/);
  });
});

Deno.test("C074: start exits with 4 when a port that was asked for is taken, on whichever address", async () => {
  await withHome(async (home) => {
    for (const hostname of ["127.0.0.1", "0.0.0.0", "::"]) {
      using taken = Deno.listen({ hostname, port: 0 });
      const port = String(taken.addr.port);
      for (
        const flags of [["--port", port, "--tcpport", "0"], ["--port", "0", "--tcpport", port]]
      ) {
        const program = runOtela(["start", ...flags], { home });
        equal((await within(deadlineMs, program.ended)).code, 4, `${flags} on ${hostname}`);
        match(program.stderr.lastLine, new RegExp(`^otela: .*${port}`));
      }
    }
  });
});

Deno.test("C074: workers that start at once on the default ports all come up, each on its own", async () => {
  await withHome(async (home) => {
    await using nodes = new AsyncDisposableStack();
    const started = await together(
      Array.from({ length: 6 }, (_, index) => async (signal) => {
        const own = `${home}/${index}`;
        await Deno.mkdir(own);
        const args = onLoopback;
        return nodes.use(await startNode({ home: own, args, ports: "default", signal }));
      }),
      AbortSignal.timeout(deadlineMs),
    );
    equal(new Set(started.map(({ http }) => http)).size, started.length);
    const meshPorts = started.map(({ multiaddrs }) => multiaddrs[0].split("/")[4]);
    equal(new Set(meshPorts).size, started.length);
  });
});

Deno.test("C079: no command waits for input, on a terminal that gives none", async () => {
  await withHome(async (home) => {
    await Deno.writeTextFile(`${home}/cfg.yaml`, "prot: 1\n");
    const lines = [
      "",
      "help",
      ...runnableCommands().map(({ path }) => [path, more[path]].join(" ").trim()),
    ];
    for (const line of lines) {
      const words = [...sourceCommand(), ...line.split(" ")].filter((word) => word !== "");
      await using program = new Program({
        command: "script", // Gives the command a terminal.
        args: ["--quiet", "--return", "--command", words.join(" "), "/dev/null"],
        env: nodeEnvironment(home),
        cwd: home,
        input: "open",
      });
      const { code } = await within(10_000, program.ended);
      deepEqual([line, code], [line, codes[line] ?? 0], program.stdout.text);
    }
  });
});

/** What commands need to get as far as they can without a node. */
const more: Readonly<Record<string, string>> = {
  "start": "--config cfg.yaml",
  "service add": "tts http://127.0.0.1:9",
  "service remove": "tts",
  "completion": "bash",
};

const codes: Readonly<Record<string, number>> = {
  "start --config cfg.yaml": 2,
  "status": 5,
  "stop": 5,
  "explain": 5,
  "peers": 5,
  "drain": 5,
  "service list": 5,
  "service add tts http://127.0.0.1:9": 5,
  "service remove tts": 5,
};
