// What does a client ask for, read from the bytes of its connection?
import { OtelaError } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { fieldsOf, framingFields, lists, withoutCr } from "./fields.ts";
import { blockBytesMax, MessageReader, type MessageSink } from "./message_reader.ts";

/** A request without its body. */
export type RequestHead = {
  readonly method: string;
  /** As it was sent: a path with its query, a whole URL, or `*`. */
  readonly target: string;
  /** Names in lower case and values in turn, each name once; bytes as Latin-1. */
  readonly headers: readonly string[];
  readonly host: string;
  /** HTTP/1.0, which knows no pieces. */
  readonly isOld: boolean;
  /** Whether the client would send another request on this connection. */
  readonly isKept: boolean;
  /** Length of the body, -1 when unknown, 0 when there is none. */
  readonly bodyBytes: Bytes | -1;
  /** The client waits for "100 Continue" before it sends its body. */
  readonly isAsking: boolean;
};

/** Who hears a request, part by part. */
export type RequestSink = MessageSink & {
  head(head: RequestHead): void;
};

/** As many as Deno's own server takes. */
const headersMax = 100;

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/(\d)\.(\d)$/;
const targetShape = /^(?:\/|https?:\/\/|\*$)/i;
const http2Preface = "PRI * HTTP/2.0";

/** Reads one request after the other from a connection (HTTP/1.1 and 1.0). */
export class RequestReader extends MessageReader {
  constructor(private readonly sink: RequestSink) {
    super(sink);
    this.expectHead();
  }

  /** Whether part of a request was read. */
  get isWithin(): boolean {
    return !this.isIdle && (!this.isInHead || this.hasPartOfHead);
  }

  /** The request that was read is answered: another one may come. */
  next(): void {
    this.expectHead();
  }

  /**
   * Reads to the end of one request at most.
   * @returns Where it stopped; what follows belongs to the next one.
   * @throws {OtelaError} `bad_request`: nobody knows where this request ends.
   */
  push(bytes: Uint8Array, from: number): number {
    let at = from;
    // Empty lines before a request are leftovers of clumsy clients (RFC 9112 §2.2).
    if (this.isInHead && !this.hasPartOfHead) {
      while (at < bytes.length && (bytes[at] === 0x0d || bytes[at] === 0x0a)) at++;
    }
    return this.read(bytes, at);
  }

  protected fault(why: string): Error {
    return unreadable(why);
  }

  protected tooLong(): Error {
    return new OtelaError(
      "headers_too_large",
      `Cannot read the request as its head must have at most ${blockBytesMax} bytes`,
    );
  }

  protected takeHead(lines: readonly string[]): void {
    const line = withoutCr(lines[0]);
    const found = requestLine.exec(line);
    if (!found) throw unreadable("it does not begin as HTTP/1.1 must");
    const [, method, target, major, minor] = found;
    if (line === http2Preface || major !== "1") {
      throw unreadable("it is no HTTP/1.1, which is what this door speaks without TLS");
    }
    if (!targetShape.test(target)) throw unreadable("its target must begin with /");
    const isOld = minor === "0";
    const headers = joined(fieldsOf(lines, 1, unreadable));
    const { connection, coding, length } = framingFields(headers, unreadable);
    const host = hostOf(headers, isOld);
    const bodyBytes = bodyBytesOf(coding, length, isOld);
    const isKept = isOld ? lists(connection, "keep-alive") : !lists(connection, "close");
    const isAsking = !isOld && bodyBytes !== 0 && isContinueExpected(headers);
    if (bodyBytes < 0) this.expectPieces();
    else if (bodyBytes > 0) this.expectLength(bodyBytes);
    this.sink.head({ method, target, headers, host, isOld, isKept, bodyBytes, isAsking });
    if (bodyBytes === 0) this.complete([]);
  }
}

/** Each name once: what stands in several lines is one list (RFC 9110 §5.2), cookies are one by their own rule. */
function joined(fields: string[]): string[] {
  if (fields.length > 2 * headersMax) {
    throw new OtelaError(
      "headers_too_large",
      `Cannot read the request as it must have at most ${headersMax} headers`,
    );
  }
  for (let at = 2; at < fields.length; at += 2) {
    const name = fields[at];
    for (let before = 0; before < at; before += 2) {
      if (fields[before] !== name) continue;
      fields[before + 1] += `${name === "cookie" ? "; " : ", "}${fields[at + 1]}`;
      fields.splice(at, 2);
      at -= 2;
      break;
    }
  }
  return fields;
}

function hostOf(headers: readonly string[], isOld: boolean): string {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === "host") return headers[at + 1];
  }
  if (!isOld) throw unreadable("it names no host");
  return "";
}

/** How the body ends: RFC 9112 §6.3. What two hops could understand differently is refused (C019). */
function bodyBytesOf(
  coding: string | undefined,
  length: string | undefined,
  isOld: boolean,
): Bytes | -1 {
  if (coding !== undefined) {
    if (length !== undefined) {
      throw unreadable("it must not have both content-length and transfer-encoding");
    }
    if (isOld) throw unreadable("its transfer-encoding must not stand in HTTP/1.0");
    if (coding !== "chunked") throw unreadable('its transfer-encoding must be "chunked"');
    return -1;
  }
  if (length === undefined) return 0;
  if (!/^\d{1,15}$/.test(length)) throw unreadable("its content-length must be one whole number");
  return Number(length);
}

function isContinueExpected(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === "expect") return headers[at + 1].toLowerCase() === "100-continue";
  }
  return false;
}

function unreadable(why: string): OtelaError {
  return new OtelaError("bad_request", `Cannot read the request as ${why}`);
}
