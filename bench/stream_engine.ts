// Which engine stands behind benches of many streams? One that costs little beside what is measured: with `Deno.serve`
// and a timer for each stream it took a third of two cores, and was late itself from some 800 streams on.
import { HttpServer } from "../lib/server/http_server.ts";
import { PlainAnswer } from "../lib/server/plain_answer.ts";
import { PushedBody } from "../lib/server/pushed_body.ts";
import type { ServerAnswer, ServerRequest } from "../lib/server/types.ts";
import { benchAnswer } from "../tests/support/engine_bench.ts";
import { sseEvent } from "../tests/support/engine_sse.ts";

const eventCount = Number(Deno.args[0]);
const intervalMs = Number(Deno.args[1]);
const tickMs = 1;
const encoder = new TextEncoder();

/** Of every stream; nobody changes them. */
const events = Array.from(
  { length: eventCount },
  (_, index) => sseEvent(`{"choices":[{"delta":{"content":"tok${index}"}}]}`),
);
const done = sseEvent("[DONE]");

/** A stream that is open. */
type Open = { readonly body: PushedBody; sent: number; isOver: boolean };

/** The streams of which an event is due at a tick; all are looked at by one timer. */
const due = new Map<number, Open[]>();
const startMs = performance.now();
let lookedAt = 0;
setInterval(() => {
  const now = tickNow();
  for (; lookedAt <= now; lookedAt++) {
    const open = due.get(lookedAt);
    if (!open) continue;
    due.delete(lookedAt);
    for (const one of open) sendNext(one);
  }
}, tickMs);

const server = HttpServer.listen("127.0.0.1", 0, {
  answer,
  refuse: ({ message }) => whole(400, message, "text/plain"),
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));

function answer(request: ServerRequest): ServerAnswer | Promise<ServerAnswer> {
  if (request.method === "POST") return chat(request);
  if (!request.url.endsWith("/v1/models")) return whole(200, "ok", "text/plain");
  const data = [{ id: "m", object: "model", created: 0, owned_by: "test" }];
  return whole(200, JSON.stringify({ object: "list", data }), "application/json");
}

async function chat(request: ServerRequest): Promise<ServerAnswer> {
  const body = new TextDecoder().decode(await request.bytes());
  if (!body.includes('"stream":true')) return whole(200, benchAnswer, "application/json");
  const stream: Open = {
    body: new PushedBody({ pull() {}, cancel: () => void (stream.isOver = true) }),
    sent: 0,
    isOver: false,
  };
  // The first event leaves with the head.
  sendNext(stream);
  const head = new PlainAnswer(200, stream.body);
  head.headers.append("content-type", "text/event-stream");
  return head;
}

function tickNow(): number {
  return Math.floor((performance.now() - startMs) / tickMs);
}

/** Who is late does not hurry afterwards: an engine has its pace. */
function sendNext(stream: Open): void {
  if (stream.isOver) return;
  if (stream.sent === eventCount) {
    stream.body.push(done);
    return stream.body.close();
  }
  stream.body.push(events[stream.sent++]);
  const at = tickNow() + Math.round(intervalMs / tickMs);
  const open = due.get(at);
  if (open) open.push(stream);
  else due.set(at, [stream]);
}

function whole(status: number, text: string, contentType: string): ServerAnswer {
  const plain = new PlainAnswer(status, encoder.encode(text));
  plain.headers.append("content-type", contentType);
  return plain;
}
