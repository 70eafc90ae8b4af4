import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { askOperator } from "../../cli/operator_client.ts";
import { silentLog } from "../../lib/base/ports.ts";
import { listenForClients, listenForOperator } from "../../lib/gateway/door_listener.ts";
import { textAnswer } from "../../lib/gateway/json_answer.ts";
import { createOperatorDoor, type NodeStatus } from "../../lib/gateway/operator_door.ts";
import { fixture, peer } from "../unit/gateway/fixture.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;
const address = { host: "127.0.0.1", port: 0, isPortExplicit: false };

Deno.test("listenForClients replaces a busy default port, and refuses a busy port that was asked for", async () => {
  const { door } = fixture();
  const first = listenForClients(door, address);
  const { port } = first;
  const second = listenForClients(door, { ...address, port });
  equal(second.port === port, false);
  for (const { url } of [first, second]) {
    equal((await (await fetch(`${url}/v1/health`)).json()).status, "ok");
  }
  throws(() => listenForClients(door, { ...address, port, isPortExplicit: true }), {
    code: "port_busy",
  });
  // TEST-NET-1 is no address of any machine.
  throws(() => listenForClients(door, { ...address, host: "192.0.2.1" }), {
    code: "config_invalid",
  });
  deepEqual(await Promise.all([first.close(deadlineMs), second.close(deadlineMs)]), [true, true]);
});

Deno.test("listenForClients says an address that works on this host, when it listens on all", async () => {
  const listener = listenForClients(fixture().door, { ...address, host: "0.0.0.0" });
  equal(listener.url, `http://127.0.0.1:${listener.port}`);
  equal((await (await fetch(`${listener.url}/v1/health`)).json()).status, "ok");
  equal(await listener.close(deadlineMs), true);
});

Deno.test("listenForClients sends answers as they are, also to those who would take them compressed", async () => {
  const text = "x".repeat(5_000);
  const { door } = fixture({
    forwarder: {
      forward: () => Promise.resolve(textAnswer(text, "application/json")),
    },
  });
  const listener = listenForClients(door, address);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await connection.write(new TextEncoder().encode(
    "GET /v1/service/llm/x HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip, br\r\nConnection: close\r\n\r\n",
  ));
  const answer = await within(deadlineMs, new Response(connection.readable).text());
  equal(/content-encoding/i.test(answer), false);
  equal(answer.endsWith(text), true);
  equal(await listener.close(deadlineMs), true);
});

Deno.test("DoorListener does not wait for a stream beyond its grace", async () => {
  const end = Promise.withResolvers<void>();
  const { door } = fixture({
    forwarder: {
      forward: () =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              start(controller) {
                controller.enqueue(new Uint8Array([65]));
                end.promise.then(() => controller.close());
              },
            }),
          ),
        ),
    },
  });
  const listener = listenForClients(door, address);
  const response = await fetch(`${listener.url}/v1/service/llm/x`);
  const reader = response.body!.getReader();
  await within(deadlineMs, reader.read());
  equal(await within(deadlineMs, listener.close(50)), false);
  end.resolve();
  equal((await within(deadlineMs, reader.read())).done, true);
});

Deno.test("listenForOperator serves the command line on a socket that only its user may open", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/operator.sock`;
  try {
    let stops = 0;
    const status: NodeStatus = {
      peerId: peer("S"),
      role: "head",
      version: "0.1.0",
      http: [],
      multiaddrs: [],
      uptimeMs: 1,
      network: "opentela",
      connections: 0,
      peers: { alive: 1, suspect: 0, left: 0 },
      running: { out: 0, in: 0, engines: 0 },
      services: [],
      registry: { claims: 1, claimBytes: 800 },
      warnings: [],
    };
    const door = createOperatorDoor({
      explain: () => ({ policy: "p2c", candidates: [] }),
      log: silentLog,
      newRequestId: () => "req-1",
      status: () => status,
      stop: () => void stops++,
      peers: () => [],
      services: {
        list: () => [],
        add: (description) =>
          Promise.resolve({
            ...(description as { name: string; url: string }),
            state: "starting",
            reason: "",
            identityGroups: [],
          }),
        remove: () => Promise.resolve(false),
      },
    });
    const listener = await listenForOperator(door, path);
    equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    deepEqual(await askOperator(path, { method: "GET", path: "/status" }), status);
    const added = await askOperator(path, {
      method: "POST",
      path: "/services",
      body: { name: "llm", url: "http://127.0.0.1:8000" },
    });
    equal((added as { state: string }).state, "starting");
    await rejects(askOperator(path, { method: "DELETE", path: "/services/llm" }), {
      code: "no_such_service",
    });
    await askOperator(path, { method: "POST", path: "/stop" });
    equal(stops, 1);
    equal(await listener.close(deadlineMs), true);
    await rejects(Deno.stat(path), Deno.errors.NotFound);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
