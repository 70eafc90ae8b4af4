// What does a body of 1 GB that is read slowly cost the nodes, and the other requests on its lane?
import { equal, ok } from "node:assert/strict";
import { memoryMb } from "../../bench/rig/memory.ts";
import { chatUrl, type Mesh, startMesh } from "../../bench/rig/mesh.ts";
import { extraMbMax } from "../../bench/slow_reader.ts";
import { benchHandler } from "../support/engine_bench.ts";
import { within } from "../support/within.ts";

const bytes = 1e9;
const piece = new Uint8Array(65_536);
/** A piece is read for each, so the reader takes 6 MB of the gigabyte, however fast the machine is. */
const chatCount = 100;
/** What sockets, windows and streams on the way hold, twice that (8 MB on a quiet machine). */
const heldMbMax = 30;

/** Lets the test take a body piece by piece. */
class Turnstile {
  private readonly waiting: (() => void)[] = [];
  private passes = 0;

  /** From now on everybody passes. */
  release(): void {
    this.passes = Infinity;
    for (const next of this.waiting.splice(0)) next();
  }

  open(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.passes++;
  }

  async pass(): Promise<void> {
    if (this.passes > 0) this.passes--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/** An engine that gives a gigabyte as fast as it is taken, and takes one as slowly as the test wants. */
function startSlowEngine(turnstile: Turnstile, counts: { given: number }) {
  const chats = benchHandler(["m"], 1, 1);
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.url.endsWith("/give")) {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull(controller) {
          counts.given += piece.length;
          controller.enqueue(piece);
        },
      });
      return new Response(body);
    }
    if (!request.url.endsWith("/take")) return chats(request);
    try {
      for await (const _ of request.body ?? []) await turnstile.pass();
    } catch {
      // The client went, and so did its request.
    }
    return new Response("taken");
  });
}

async function connectTo({ head }: Mesh, method: string, path: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(head.url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = [
    `${method} /v1/service/llm/${path} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    "x-otela-identity-group: model=m",
    `content-length: ${method === "POST" ? bytes : 0}`,
    "\r\n",
  ];
  await connection.write(new TextEncoder().encode(lines.join("\r\n")));
  return connection;
}

/** Chats one after another; each must be answered while the body stands, which it does until its client goes. */
async function chat(mesh: Mesh, between: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < chatCount; i++) {
    await between();
    const response = await fetch(chatUrl(mesh.head.url), { method: "POST", body: '{"model":"m"}' });
    equal(response.status, 200);
    await response.body?.cancel();
  }
}

async function extraMb({ head, worker }: Mesh, work: () => Promise<void>): Promise<number> {
  const before = [await memoryMb(head.pid), await memoryMb(worker.pid)];
  await within(20_000, work());
  const after = [await memoryMb(head.pid), await memoryMb(worker.pid)];
  return Math.max(...after.map((mb, at) => mb - before[at]));
}

Deno.test("a body of 1 GB that is read slowly is held back at its source, and holds up no other request", async (test) => {
  await using stack = new AsyncDisposableStack();
  const turnstile = new Turnstile();
  const counts = { given: 0, written: 0 };
  const engine = stack.use(startSlowEngine(turnstile, counts));
  const mesh = await startMesh(stack, `http://127.0.0.1:${engine.addr.port}`, undefined);

  await test.step("a slow reader", async () => {
    using connection = await connectTo(mesh, "GET", "give");
    const extra = await extraMb(
      mesh,
      () => chat(mesh, () => connection.read(new Uint8Array(piece.length))),
    );
    const heldMb = counts.given / 1e6;
    ok(heldMb > 1 && heldMb < heldMbMax, `the engine gave ${heldMb} MB`);
    ok(extra < extraMbMax, `a node took ${extra} MB`);
  });

  await test.step("a slow engine", async () => {
    const connection = await connectTo(mesh, "POST", "take");
    const writing = (async () => {
      while (true) counts.written += await connection.write(piece);
    })().catch(() => {}); // Until we close it.
    const extra = await extraMb(
      mesh,
      () => chat(mesh, () => Promise.resolve(turnstile.open())),
    );
    connection.close();
    turnstile.release();
    await writing;
    const heldMb = counts.written / 1e6;
    ok(heldMb > 1 && heldMb < heldMbMax, `the client wrote ${heldMb} MB`);
    ok(extra < extraMbMax, `a node took ${extra} MB`);
  });
});
