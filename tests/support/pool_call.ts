// How does a test ask an engine through its pool?
import { EnginePool, type EnginePoolOptions } from "../../lib/engine/engine_pool.ts";
import type { EngineRequest } from "../../lib/engine/engine_request.ts";
import type { EngineRequestHead } from "../../lib/engine/http_request.ts";

/** An answer as it comes. */
export type PoolAnswer = {
  readonly status: number;
  readonly headers: readonly string[];
  readonly request: EngineRequest;
  /** Settles with the body; rejects when it breaks off. */
  readonly body: Promise<Uint8Array<ArrayBuffer>>;
  readonly text: () => Promise<string>;
  /** Empty until the body is here. */
  readonly trailers: readonly string[];
};

const nothing = new Uint8Array(0);

/** A pool to an engine at a URL. */
export function poolTo(origin: string, more: Partial<EnginePoolOptions> = {}): EnginePool {
  return new EnginePool({
    origin,
    socketPath: null,
    connectionsMax: 256,
    connectTimeoutMs: 10_000,
    ...more,
  });
}

/** Sends a request with its whole body. @throws {Error} When it fails before its answer's head is here. */
export function callPool(
  pool: EnginePool,
  { body = nothing, ...head }: Partial<EngineRequestHead> & { path: string; body?: Uint8Array },
): Promise<PoolAnswer> {
  const answered = Promise.withResolvers<PoolAnswer>();
  const whole = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const trailers: string[] = [];
  whole.promise.catch(() => {}); // Who wants only the head need not ask.
  const request: EngineRequest = pool.start(
    { method: "GET", headers: [], bodyBytes: -1, ...head },
    body,
    true,
    {
      replyHead: (status, headers) =>
        answered.resolve({
          status,
          headers,
          request,
          body: whole.promise,
          text: async () => new TextDecoder().decode(await whole.promise),
          trailers,
        }),
      replyData(chunk) {
        chunks.push(chunk.slice());
        return true;
      },
      replyEnd(fields) {
        trailers.push(...fields);
        whole.resolve(new Uint8Array(chunks.flatMap((chunk) => [...chunk])));
      },
      replyFailed(error, at) {
        const { code } = error as { code?: string };
        const failure = Object.assign(new Error(error.message), { at, code });
        answered.reject(failure);
        whole.reject(failure);
      },
      bodyTaken: () => {},
    },
  );
  return answered.promise;
}
