// What stands behind every target: an OpenAI-compatible engine that thinks about nothing.
// It answers a chat with the same 270 bytes, or with as many events as the request asks for. `start` prints its URL.
const answer = JSON.stringify({
  id: "x",
  choices: [{ message: { content: "hello world".repeat(20) } }],
});
const models = JSON.stringify({ object: "list", data: [{ id: "m", object: "model" }] });
const json = { headers: { "content-type": "application/json" } };
const encoder = new TextEncoder();

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  const path = request.url.slice(request.url.indexOf("/", 8));
  if (path === "/health") return new Response("ok");
  if (path === "/v1/models") return new Response(models, json);
  const body = await request.text();
  if (body.includes('"stream":true')) return stream(JSON.parse(body));
  return new Response(answer, json);
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));

/** The first event at once, the others `interval_ms` apart, and the marker right after the last. */
function stream(request: { event_count?: number; interval_ms?: number }): Response {
  const eventCount = request.event_count ?? 64;
  const intervalMs = request.interval_ms ?? 20;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let index = 0;
      const sendNext = () => {
        controller.enqueue(
          encoder.encode(`data: {"choices":[{"delta":{"content":"tok${index++}"}}]}\n\n`),
        );
        if (index < eventCount) timer = setTimeout(sendNext, intervalMs);
        else {
          controller.enqueue(encoder.encode("data: [DONE]\n\n"));
          controller.close();
        }
      };
      sendNext();
    },
    cancel() {
      clearTimeout(timer);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
