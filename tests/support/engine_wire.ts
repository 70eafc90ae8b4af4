// Which answers test a proxy rather than a model?
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type EngineStreamWatch, sseBody, sseEvent, sseResponse } from "./engine_sse.ts";

/** Path and query of a request as they came, without the parsing and cleaning of `URL`. */
export function rawPathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start < 0 ? "/" : url.slice(start);
}

const encoder = new TextEncoder();

/**
 * `/echo…`, `/status/N`, `/redirect`, `/bytes`, `/slow`, `/sse`, `/gzip`, `/ws`, `/ws-refuse`.
 * @param path Raw path and query.
 * @returns `undefined` for other paths.
 */
export async function wireAnswer(
  request: Request,
  path: string,
  engine: string,
  watch: EngineStreamWatch,
): Promise<Response | undefined> {
  const [endpoint, query = ""] = path.split("?", 2);
  const params = new URLSearchParams(query);
  const number = (name: string, fallback: number) => Number(params.get(name) ?? fallback);
  if (endpoint.startsWith("/echo")) return await echo(request, path, engine, params);
  if (endpoint.startsWith("/status/")) return status(Number(endpoint.slice(8)), params);
  switch (endpoint) {
    case "/redirect": {
      const location = params.get("to") ?? "/echo";
      return new Response(null, { status: number("status", 307), headers: { location } });
    }
    case "/bytes":
      return bytes(number("n", 1_000), number("chunk", 65_536), params.has("length"), watch);
    case "/slow": {
      const pieces = Array.from(
        { length: number("n", 10) },
        (_, i) => encoder.encode(`piece${i}\n`),
      );
      const timing = { firstMs: number("first", 0), intervalMs: number("interval", 100) };
      return new Response(sseBody(pieces, timing, watch));
    }
    case "/sse": {
      const events = Array.from({ length: number("n", 10) }, (_, i) => sseEvent({ n: i }));
      const cutAfter = params.has("cut") ? number("cut", 0) : undefined;
      const timing = { firstMs: number("first", 0), intervalMs: number("interval", 20), cutAfter };
      return sseResponse(sseBody(events, timing, watch));
    }
    case "/gzip": {
      const body = gzipSync(JSON.stringify({ engine, text: "gzip ".repeat(200) }));
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      return new Response(new Uint8Array(body), { headers });
    }
    case "/ws":
    case "/v1/realtime":
      return socket(request, params);
    case "/ws-refuse":
      return Response.json({ error: { message: "no socket here" } }, { status: 403 });
  }
}

/** What a request was, as JSON; `hash` and length of the body are taken while it streams in. */
async function echo(
  request: Request,
  path: string,
  engine: string,
  params: URLSearchParams,
): Promise<Response> {
  const hash = createHash("sha256");
  let bodyBytes = 0;
  for await (const chunk of request.body ?? []) {
    hash.update(chunk);
    bodyBytes += chunk.byteLength;
  }
  const answer = {
    method: request.method,
    path,
    headers: [...request.headers],
    bodyBytes,
    bodySha256: hash.digest("hex"),
    engine,
  };
  return Response.json(answer, { headers: extraHeaders(params) });
}

/** `?header=name:value`, any number of times. */
function extraHeaders(params: URLSearchParams): [string, string][] {
  return params.getAll("header").map((text) => {
    const colon = text.indexOf(":");
    return [text.slice(0, colon), text.slice(colon + 1)];
  });
}

function status(code: number, params: URLSearchParams): Response {
  const isBodiless = code === 204 || code === 205 || code === 304;
  const headers = new Headers(extraHeaders(params));
  // Deno.serve sends a 205 without any framing, drops a length of ours and does not close, so that clients wait
  // for its body for ever: a test of 205 needs the raw engine.
  if (isBodiless) return new Response(null, { status: code, headers });
  return Response.json({ status: code }, { status: code, headers });
}

/** `n` bytes, byte i is i modulo 251, sent only as fast as they are read. */
function bytes(
  total: number,
  chunkBytes: number,
  withLength: boolean,
  watch: EngineStreamWatch,
): Response {
  let sent = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const chunk = patternBytes(sent, Math.min(chunkBytes, total - sent));
      if (chunk.byteLength > 0) controller.enqueue(chunk);
      sent += chunk.byteLength;
      watch.sent();
      if (sent === total) controller.close();
    },
    cancel: () => watch.gone(),
  });
  const headers: Record<string, string> = { "content-type": "application/octet-stream" };
  if (withLength) headers["content-length"] = String(total);
  return new Response(body, { headers });
}

/** The bytes of `/bytes` from an offset, for comparison. */
export function patternBytes(offset: number, length: number): Uint8Array<ArrayBuffer> {
  const chunk = new Uint8Array(length);
  for (let i = 0; i < length; i++) chunk[i] = (offset + i) % 251;
  return chunk;
}

/** Echoes messages; the text `close` closes with 4000; the first offered sub-protocol is chosen. */
function socket(request: Request, params: URLSearchParams): Response {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return Response.json({ error: { message: "expected a WebSocket" } }, { status: 426 });
  }
  const offered = request.headers.get("sec-websocket-protocol")?.split(",")[0].trim();
  if (offered !== undefined) {
    // Deno splits the list at ", " alone, and throws at a client that writes it without the blank.
    const headers = new Headers(request.headers);
    headers.set("sec-websocket-protocol", offered);
    Object.defineProperty(request, "headers", { value: headers });
  }
  const { socket, response } = Deno.upgradeWebSocket(request, { protocol: offered ?? "" });
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    if (params.has("greet")) socket.send("hello");
  };
  socket.onmessage = ({ data }) => {
    if (data === "close") socket.close(4000, "asked to close");
    else socket.send(data);
  };
  return response;
}
