import { deepEqual, equal, ok } from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { executable as exe, foreignPath } from "../support/executable.ts";
import { startNode } from "../support/node_process.ts";

const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];
const env = { PATH: foreignPath };

/** Names the model, since a body of one byte cannot. */
const toEcho = { "x-otela-identity-group": "model=echo" };
/** Below one frame, above what noise takes in one buffer, and many frames. */
const bodySizes = [1, 1_500, 1_048_576];

/** Between two events of the stream. */
const eventMs = 10;
/** A kernel acknowledges after 40 ms, and then comes what waited for that. */
const heldBackMs = 38;
const eventCount = 5;
/** On an idle machine the pieces come as they are sent; a busy one may be late with some. */
const streamCount = 12;

/** An engine that sends back what it gets, or streams events. */
function startEchoEngine(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/echo") return new Response(await request.bytes());
    if (pathname === "/events") return new Response(events());
    return Response.json({ data: [{ id: "echo" }] });
  });
}

/** Events in pieces of their own, each later than the one before. */
function events(): ReadableStream<Uint8Array<ArrayBuffer>> {
  const event = new TextEncoder().encode(`data: ${"x".repeat(200)}\n\n`);
  let count = 0;
  return new ReadableStream({
    async pull(controller) {
      if (count > 0) await new Promise((resolve) => setTimeout(resolve, eventMs));
      controller.enqueue(event);
      if (++count === eventCount) controller.close();
    },
  });
}

/** Bytes that repeat at no length that a buffer has. */
function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) & 0xff);
}

/** A head and a worker in front of the echo engine, from the executable alone. */
async function withMesh(use: (serviceUrl: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "otela-exe-" });
  const engine = startEchoEngine();
  try {
    for (const name of ["head", "worker"]) await Deno.mkdir(`${root}/${name}`);
    await using head = await startNode({
      home: `${root}/head`,
      args: ["--role", "head", ...onLoopback],
      exe,
      env,
    });
    const service = ["--service.name", "llm", "--service.port", String(engine.addr.port)];
    await using worker = await startNode({
      home: `${root}/worker`,
      args: ["--bootstrap.source", head.multiaddrs[0], ...service, ...onLoopback],
      exe,
      env: { ...env, LD_LIBRARY_PATH: "/nowhere" }, // Every CUDA module sets it.
    });
    // The head has read the worker's claim then: in the thread that has no permissions.
    await eventually(async () => {
      const response = await fetch(`${head.http}/v1/dnt/table`);
      return `/${worker.peerId}` in await response.json();
    });
    const url = `${head.http}/v1/service/llm`;
    await eventually(async () => (await post(`${url}/echo`, bytesOf(1))).status === 200);
    await use(url);
  } finally {
    await engine.shutdown();
    await Deno.remove(root, { recursive: true });
  }
}

async function post(url: string, body: Uint8Array<ArrayBuffer>): Promise<Response> {
  const response = await fetch(url, { method: "POST", headers: toEcho, body });
  if (!response.ok) await response.body?.cancel();
  return response;
}

Deno.test("C076: bodies of 1 B, 1,500 B and 1 MB go both ways through a mesh of executables", async () => {
  await withMesh(async (url) => {
    for (const size of bodySizes) {
      const sent = bytesOf(size);
      const response = await post(`${url}/echo`, sent);
      equal(response.status, 200);
      deepEqual(await response.bytes(), sent, `${size} bytes`);
    }
  });
});

Deno.test("The executable's second event of a stream comes when it is sent, on a connection that is kept", async () => {
  await withMesh(async (url) => {
    const gapsMs: number[] = [];
    for (let count = 0; count < streamCount; count++) {
      // After some quick calls a kernel takes its time to acknowledge, in hope of one more.
      for (let call = 0; call < 5; call++) await (await post(`${url}/echo`, bytesOf(1))).bytes();
      const response = await post(`${url}/events`, bytesOf(1));
      const atMs: number[] = [];
      for await (const _ of response.body!) atMs.push(performance.now());
      gapsMs.push(atMs[1] - atMs[0]);
    }
    gapsMs.sort((one, other) => one - other);
    const lowerQuartileMs = gapsMs[streamCount >> 2];
    ok(lowerQuartileMs < heldBackMs, `three quarters come later than ${lowerQuartileMs} ms`);
  });
});
