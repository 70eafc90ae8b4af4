// How do exchange tests ask, read and compare in few words?
import { createHash } from "node:crypto";
import type { PeerId } from "../../lib/base/peer_id.ts";
import { assert } from "../../lib/base/assert.ts";
import type { Bytes } from "../../lib/base/units.ts";
import { AnswerBody } from "../../lib/exchange/answer_body.ts";
import type {
  BodyStream,
  ExchangeError,
  ExchangeRequestHead,
  ExchangeResponse,
} from "../../lib/exchange/types.ts";
import { type ExchangePair, headPeer, workerPeer } from "./exchange_pair.ts";
import { patternBytes } from "./engine_wire.ts";

/** The two ways to the same engine. */
export const ways: readonly { readonly name: string; readonly peer: PeerId }[] = [
  { name: "over a lane", peer: workerPeer },
  { name: "to an own engine", peer: headPeer },
];

export function headOf(path: string, more: Partial<ExchangeRequestHead> = {}): ExchangeRequestHead {
  return { service: "llm", method: "GET", path, headers: [], bodyBytes: 0, ...more };
}

/** The whole body of an answer. */
export async function bodyOf(
  { body }: Pick<ExchangeResponse, "body">,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array(0);
  if (body instanceof Uint8Array) return body;
  return new Uint8Array(await new Response(body.stream()).arrayBuffer());
}

/** The body of an answer that came in pieces. */
export function piecesOf({ body }: Pick<ExchangeResponse, "body">): BodyStream {
  assert(body instanceof AnswerBody, "the body came in pieces");
  return body.stream();
}

export async function textOf(response: Pick<ExchangeResponse, "body">): Promise<string> {
  return new TextDecoder().decode(await bodyOf(response));
}

/** What `/echo` saw. */
export type Echo = {
  readonly method: string;
  readonly path: string;
  readonly headers: [string, string][];
  readonly bodyBytes: Bytes;
  readonly bodySha256: string;
};

export async function echo(
  pair: ExchangePair,
  peer: PeerId,
  head: ExchangeRequestHead,
  body: Uint8Array<ArrayBuffer> | null | BodyStream = null,
): Promise<Echo> {
  return JSON.parse(await textOf(await pair.client.request(peer, head, body).response)) as Echo;
}

export function headerOf(headers: readonly string[], name: string): string | undefined {
  const at = headers.indexOf(name);
  return at < 0 ? undefined : headers[at + 1];
}

/** A body in pieces, made as it is read: byte i is i modulo 251. */
export function streamOf(total: Bytes, chunkBytes: Bytes): BodyStream {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = patternBytes(sent, Math.min(chunkBytes, total - sent));
      if (chunk.length > 0) controller.enqueue(chunk);
      sent += chunk.length;
      if (sent === total) controller.close();
    },
  });
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** How an exchange failed. @throws When it did not. */
export async function failureOf(work: Promise<unknown>): Promise<ExchangeError> {
  try {
    await work;
  } catch (error) {
    return error as ExchangeError;
  }
  throw new Error("The exchange did not fail");
}
