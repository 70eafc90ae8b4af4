// How do the heads of a request and of an answer travel?
import { decode, encode } from "cborg";
import { messageOf, OtelaError } from "../base/errors.ts";
import { type Bytes, KiB } from "../base/units.ts";
import { payloadBytesMax } from "./frame.ts";
import { readHead } from "./head_reader.ts";
import { HeadWriter } from "./head_writer.ts";

/** Heads above this are refused: 431 at the client door, a failed exchange at the worker. */
export const headBytesMax: Bytes = 64 * KiB;
/** Header fields in one head; more are refused with the head. */
const headerCountMax = 1_024;

/** The head of a request as it travels. */
export type WireRequest = {
  /** Service. */
  readonly s: string;
  /** Method. */
  readonly m: string;
  /** Raw path and query. */
  readonly p: string;
  /** Header names and values in turn. */
  readonly h: string[];
  /** Body length; -1 when unknown. */
  readonly n: number;
  /** Window for the answer's body, bytes. */
  readonly w: number;
  /** 1 when this opens a WebSocket. */
  readonly u?: 1;
};

/** The head of an answer as it travels. */
export type WireResponse = {
  /** Status; 101 when a WebSocket was opened. */
  readonly s: number;
  /** Header names and values in turn. */
  readonly h: string[];
  /** As in `WireEnd`, when the answer is whole. */
  readonly l?: number;
};

/** How an exchange failed at the worker, as it travels. */
export type WireError = {
  /** Failure, see `ExchangeFailure`. */
  readonly f: string;
  /** Phase, see `ExchangePhase`. */
  readonly p: string;
  /** For people; at most 300 characters. */
  readonly m: string;
};

/** What comes with the end of an answer. */
export type WireEnd = {
  /** Trailers. */
  readonly t?: string[];
  /** Exchanges that the worker has open for this service: what the requester's balance uses. */
  readonly l?: number;
};

/** Both sides say this first. */
export type WireHello = {
  readonly frameMax: number;
  /** Window for one request's body, bytes. */
  readonly window: number;
  readonly exchangesMax: number;
  readonly features: string[];
};

const writer = new HeadWriter(headBytesMax);

/**
 * A head in deterministic CBOR.
 * @returns Bytes that are valid until the next head is encoded.
 * @throws {OtelaError} `bad_request` when the head has more bytes or fields than the other side reads.
 */
export function encodeHead(
  head: WireRequest | WireResponse | WireError | WireEnd | WireHello,
): Uint8Array {
  if ("h" in head && head.h.length > 2 * headerCountMax) {
    throw new OtelaError(
      "bad_request",
      `Cannot send a head as it must have at most ${headerCountMax} fields: got ${
        head.h.length / 2
      }`,
    );
  }
  const bytes = "h" in head ? encodeUsual(head) : encode(head);
  if (bytes !== undefined && bytes.length <= headBytesMax) return bytes;
  throw new OtelaError(
    "bad_request",
    `Cannot send a head as it must have at most ${headBytesMax} bytes: it has more`,
  );
}

/** The heads that every exchange has; keys in the order of their bytes, as the general encoder sorts them. */
function encodeUsual(head: WireRequest | WireResponse): Uint8Array | undefined {
  if ("w" in head) {
    writer.map(head.u === undefined ? 6 : 7).key("h").texts(head.h).key("m").text(head.m);
    writer.key("n").integer(head.n).key("p").text(head.p).key("s").text(head.s);
    if (head.u !== undefined) writer.key("u").integer(head.u);
    return writer.key("w").integer(head.w).bytes();
  }
  writer.map(head.l === undefined ? 2 : 3).key("h").texts(head.h);
  if (head.l !== undefined) writer.key("l").integer(head.l);
  return writer.key("s").integer(head.s).bytes();
}

/** The end of an answer in one frame. Trailers that do not fit are left out: the answer is whole without them. */
export function encodeEnd(trailers: string[], load: number | undefined): Uint8Array {
  if (trailers.length > 0 && trailers.length <= 2 * headerCountMax) {
    const bytes = encode({ t: trailers, l: load });
    if (bytes.length <= payloadBytesMax) return bytes;
  }
  return load === undefined
    ? writer.map(0).bytes()!
    : writer.map(1).key("l").integer(load).bytes()!;
}

/** @throws {OtelaError} `lane_failed` when the bytes are no request head. */
export function decodeRequest(bytes: Uint8Array): WireRequest {
  const head = decodeMap(bytes);
  const isRight = isText(head.s) && isText(head.m) && isText(head.p) && head.p.startsWith("/") &&
    isHeaders(head.h) && isInteger(head.n, -1) && isInteger(head.w, 0) &&
    (head.u === undefined || head.u === 1);
  if (!isRight) throw malformed("a request's head");
  return head as WireRequest;
}

/** @throws {OtelaError} `lane_failed` when the bytes are no answer's head. */
export function decodeResponse(bytes: Uint8Array): WireResponse {
  const head = decodeMap(bytes);
  const status = head.s;
  const isRight = isInteger(status, 101) && status <= 599 && isHeaders(head.h) &&
    (head.l === undefined || isInteger(head.l, 0));
  if (!isRight) throw malformed("an answer's head");
  return head as WireResponse;
}

/** @throws {OtelaError} `lane_failed` when the bytes are no error. */
export function decodeError(bytes: Uint8Array): WireError {
  const error = decodeMap(bytes);
  if (!isText(error.f) || !isText(error.p) || !isText(error.m)) throw malformed("an error");
  return { f: error.f, p: error.p, m: error.m.slice(0, 300) };
}

/** @throws {OtelaError} `lane_failed` when the bytes are no end. */
export function decodeEnd(bytes: Uint8Array): WireEnd {
  if (bytes.length === 0) return {};
  const end = decodeMap(bytes);
  const isRight = (end.t === undefined || isHeaders(end.t)) &&
    (end.l === undefined || isInteger(end.l, 0));
  if (!isRight) throw malformed("an end");
  return end as WireEnd;
}

/** @throws {OtelaError} `lane_failed` when the bytes are no hello. */
export function decodeHello(bytes: Uint8Array): WireHello {
  const hello = decodeMap(bytes);
  const isRight = isInteger(hello.frameMax, 1) && isInteger(hello.window, 0) &&
    isInteger(hello.exchangesMax, 1) && Array.isArray(hello.features) &&
    hello.features.length <= 64 && hello.features.every(isText);
  if (!isRight) throw malformed("a hello");
  return hello as WireHello;
}

function decodeMap(bytes: Uint8Array): Record<string, unknown> {
  const fields = readHead(bytes);
  if (fields) return fields;
  let value: unknown;
  try {
    value = decode(bytes);
  } catch (error) {
    throw new OtelaError("lane_failed", `Cannot read CBOR on a lane: ${messageOf(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed("a map");
  return value as Record<string, unknown>;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isInteger(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

function isHeaders(value: unknown): value is string[] {
  return Array.isArray(value) && value.length % 2 === 0 && value.length <= 2 * headerCountMax &&
    value.every(isText);
}

function malformed(what: string): OtelaError {
  return new OtelaError(
    "lane_failed",
    `Cannot read ${what} on a lane as its fields are not as agreed`,
  );
}
