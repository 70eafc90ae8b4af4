// The yardstick: what does a proxy cost that has no mesh? One hop, `Deno.serve` and `fetch`, as anyone would write it.
const engine = Deno.args[0];

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  const body = await request.arrayBuffer();
  const answer = await fetch(engine + new URL(request.url).pathname, {
    method: request.method,
    headers: request.headers,
    body: body.byteLength > 0 ? body : undefined,
  });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));
