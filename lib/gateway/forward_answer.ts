// How does a worker's answer become the client's response?
import { concatBytes } from "../base/concat_bytes.ts";
import { headerOf } from "../base/header_list.ts";
import { cleanResponseHeaders } from "../access/forward_headers.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Bytes } from "../base/units.ts";
import type { AnswerBody } from "../exchange/answer_body.ts";
import { type BodyStream, ExchangeError, type ExchangeResponse } from "../exchange/types.ts";
import type { HeaderList } from "../exchange/types.ts";
import { PlainAnswer } from "../server/plain_answer.ts";
import type { PushedBody } from "../server/pushed_body.ts";
import type { AnswerHeaders, ServerAnswer } from "../server/types.ts";

/** Statuses whose responses have no body whatever their headers say (RFC 9110 §6.4.1). */
function isBodyless(method: string, status: number): boolean {
  return method === "HEAD" || status === 204 || status === 205 || status === 304;
}

/** An answer whose events count one by one, so that each must leave at once. */
export function isEventStream(headers: HeaderList): boolean {
  return /^\s*(text\/event-stream|application\/x-ndjson|application\/jsonl)/i.test(
    headerOf(headers, "content-type"),
  );
}

/** Whether an answer can be relayed so: a stream of events that nobody has compressed. */
export function isRelayable(answer: Pick<ExchangeResponse, "status" | "headers">): boolean {
  let isEvents = false;
  for (let at = 0; at < answer.headers.length; at += 2) {
    const name = answer.headers[at];
    if (name === "content-encoding") return false;
    if (name === "content-type") isEvents = /^\s*text\/event-stream/i.test(answer.headers[at + 1]);
  }
  return answer.status === 200 && isEvents;
}

/**
 * Whether an answer is held until it is whole, so that a worker that dies in the middle gives an error instead
 * of half an answer: it must be no stream, and not known to be too long.
 */
export function mayHold(answer: ExchangeResponse, holdBytesMax: Bytes): boolean {
  const length = headerOf(answer.headers, "content-length");
  if (length !== "") return Number(length) <= holdBytesMax;
  return /^\s*application\/json/i.test(headerOf(answer.headers, "content-type"));
}

/**
 * Reads a body to its end, or as far as may be held.
 * @returns The whole, or a stream of what was read and the rest.
 * @throws {ExchangeError} When the body breaks off.
 */
export async function hold(
  body: AnswerBody,
  holdBytesMax: Bytes,
): Promise<Uint8Array<ArrayBuffer> | BodyStream> {
  const reader = body.stream().getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  while (heldBytes <= holdBytesMax) {
    const { done, value } = await reader.read();
    if (done) return pieces.length === 1 ? pieces[0] : concatBytes(pieces);
    pieces.push(value);
    heldBytes += value.length;
  }
  return new ReadableStream({
    async pull(controller): Promise<void> {
      const piece = pieces.shift();
      if (piece) return controller.enqueue(piece);
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** The body of a response for a client. */
export type ResponseBody = Uint8Array<ArrayBuffer> | null | BodyStream | PushedBody;

/**
 * The response for the client.
 * @throws {ExchangeError} When the worker's head is none that HTTP can carry.
 */
export function toResponse(
  answer: Pick<ExchangeResponse, "status" | "headers">,
  body: ResponseBody,
  about: { method: string; worker: PeerId; publicPrefix: string },
): ServerAnswer {
  const list = cleanResponseHeaders(answer.headers, about.publicPrefix);
  const status = sendableStatus(answer.status);
  try {
    const response = new PlainAnswer(status, isBodyless(about.method, status) ? null : body);
    const { headers } = response;
    headers.append("x-computing-node", about.worker);
    for (let at = 0; at < list.length; at += 2) headers.append(list[at], list[at + 1]);
    if (isEventStream(list)) keepStreaming(headers);
    return response;
  } catch (error) {
    throw new ExchangeError(
      "protocol",
      "head",
      "the worker sent a head that HTTP has no form for",
      error,
    );
  }
}

/** Clients do not agree on how a 205 ends (RFC 9110 §15.3.6); 204 says the same but for "clear your form". */
function sendableStatus(status: number): number {
  return status === 205 ? 204 : status;
}

/** No proxy on the way may collect or compress a stream's events. */
function keepStreaming(headers: AnswerHeaders): void {
  if (!headers.has("cache-control")) headers.append("cache-control", "no-transform");
  if (!headers.has("x-accel-buffering")) headers.append("x-accel-buffering", "no");
}
