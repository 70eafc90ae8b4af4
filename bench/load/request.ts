// Which request does the load send?

/** Where a request goes, as `Deno.connect` wants it, and the path. */
export type RequestTarget = {
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
};

/** @param url `http` with an explicit port. */
export function requestTarget(url: string): RequestTarget {
  const { hostname, port, pathname, search } = new URL(url);
  return { hostname, port: Number(port), path: pathname + search };
}

/** The smallest chat request: 66 bytes of JSON. */
export const chatBody = '{"model":"m","messages":[{"role":"user","content":"hello there"}]}';

/** The same, streamed; the engine decides how many events there are. */
export const streamBody =
  '{"model":"m","stream":true,"messages":[{"role":"user","content":"hello there"}]}';

/** A header line for bodies that name no model: any worker with the engine's one will do. */
export const anyWorker = "x-otela-identity-group: model=m\r\n";

/** A whole request, ready to be written again and again. */
export function chatRequest(target: RequestTarget, body: string): Uint8Array {
  return new TextEncoder().encode(
    `POST ${target.path} HTTP/1.1\r\nhost: ${target.hostname}:${target.port}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}
