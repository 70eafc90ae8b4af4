// Which engine stands behind benches of large bodies? One that also takes bytes, and gives them, as fast as asked:
// `/give/BYTES`, `/take`, `/take/BYTES_A_SECOND`.
import { benchHandler } from "../tests/support/engine_bench.ts";

const chunk = new Uint8Array(65_536);
const models = ["m"];
const [tokens, intervalMs] = [64, 20];

const chats = benchHandler(models, tokens, intervalMs);

const server = Deno.serve(
  { hostname: Deno.args[0] ?? "127.0.0.1", port: 0, onListen() {} },
  (request) => {
    const [, what, number] = new URL(request.url).pathname.split("/");
    if (what === "give") return give(Number(number));
    if (what === "take") return take(request, Number(number ?? Infinity));
    return chats(request);
  },
);
console.log(
  JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}`, port: server.addr.port }),
);

/** So many bytes, as fast as they are read. */
function give(bytes: number): Response {
  let left = bytes;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const piece = left >= chunk.length ? chunk : chunk.subarray(0, left);
      left -= piece.length;
      if (piece.length > 0) controller.enqueue(piece);
      if (left === 0) controller.close();
    },
  });
  const headers = { "content-type": "application/octet-stream", "content-length": String(bytes) };
  return new Response(body, { headers });
}

/** Reads a body at `rate` bytes a second at most and says how long it was. */
async function take(request: Request, rate: number): Promise<Response> {
  const startMs = performance.now();
  let taken = 0;
  for await (const piece of request.body ?? []) {
    taken += piece.length;
    const aheadMs = taken / rate * 1000 - (performance.now() - startMs);
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  }
  return new Response(String(taken).padEnd(20), { headers: { "content-length": "20" } });
}
