// What is the cheapest engine that Deno.serve allows, for benchmarks?
import { sseEvent } from "./engine_sse.ts";

/** 270 bytes of JSON, the answer to every POST that asks for no stream. */
export const benchAnswer: string = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  choices: [{ message: { role: "assistant", content: "hello world".repeat(14) } }],
}).padEnd(270, " ");

const headers = { "content-type": "application/json" };
const sseHeaders = { "content-type": "text/event-stream" };
const done = sseEvent("[DONE]");

/**
 * Handles requests without a log and with as few allocations as possible: a fixed answer, or, when the body
 * holds `"stream":true`, an event every so many ms and `[DONE]`.
 * @param models For `/v1/models`.
 * @param tokens Events a stream; the query `?tokens=` overrides it.
 * @param intervalMs Between events; the query `?interval=` overrides it.
 */
export function benchHandler(
  models: readonly string[],
  tokens: number,
  intervalMs: number,
): (request: Request) => Response | Promise<Response> {
  const data = models.map((id) => ({ id, object: "model", created: 0, owned_by: "test" }));
  return (request) => {
    if (request.method === "POST") return post(request, tokens, intervalMs);
    if (request.url.endsWith("/v1/models")) return Response.json({ object: "list", data });
    return new Response("ok");
  };
}

async function post(request: Request, tokens: number, intervalMs: number): Promise<Response> {
  const body = await request.text();
  if (!body.includes('"stream":true')) return new Response(benchAnswer, { headers });
  const query = request.url.indexOf("?");
  if (query < 0) return new Response(events(tokens, intervalMs), { headers: sseHeaders });
  const params = new URLSearchParams(request.url.slice(query + 1));
  const count = Number(params.get("tokens") ?? tokens);
  const everyMs = Number(params.get("interval") ?? intervalMs);
  return new Response(events(count, everyMs), { headers: sseHeaders });
}

/** The first event leaves with the head. */
function events(count: number, intervalMs: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let timer: ReturnType<typeof setInterval> | undefined;
  let sent = 0;
  return new ReadableStream({
    start(controller) {
      const send = () => {
        if (sent < count) {
          return controller.enqueue(sseEvent(`{"choices":[{"delta":{"content":"tok${sent++}"}}]}`));
        }
        clearInterval(timer);
        controller.enqueue(done);
        controller.close();
      };
      timer = setInterval(send, intervalMs);
      send();
    },
    cancel: () => clearInterval(timer),
  });
}
