// What does an engine answer, read from the bytes of its connection?
import { OtelaError } from "../base/errors.ts";
import { fieldsOf, framingFields, lists, withoutCr } from "../http/fields.ts";
import { blockBytesMax, MessageReader, type MessageSink } from "../http/message_reader.ts";

/** Who hears an answer, part by part. */
export type ResponseSink = MessageSink & {
  /** @param headers Names in lower case and values in turn, in wire order; bytes as Latin-1. */
  head(status: number, headers: string[]): void;
};

/** "103 Early Hints" and the like before one answer. A guess. */
const interimMax = 32;

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\0\r\n]*)?$/;

/** Reads one answer after the other from a connection (HTTP/1.1 and 1.0). */
export class ResponseReader extends MessageReader {
  private method = "";
  private interimCount = 0;
  private isKept = false;

  constructor(private readonly sink: ResponseSink) {
    super(sink);
  }

  /** A request was sent: its answer is what comes next. @param method Decides whether it has a body. */
  expect(method: string): void {
    this.method = method;
    this.interimCount = 0;
    this.expectHead();
  }

  /** Whether another request may follow on this connection, once the answer has ended. */
  get isReusable(): boolean {
    return this.isKept;
  }

  /** @throws {OtelaError} `worker_failed`: the connection cannot be read further. */
  push(bytes: Uint8Array): void {
    if (this.read(bytes, 0) < bytes.length) throw broken("it sent more than was asked for");
  }

  /** The engine closed its side. @throws {OtelaError} `worker_failed` in the middle of an answer. */
  close(): void {
    if (this.isUntilClose) this.complete([]);
    else if (this.isInHead) throw broken("it closed the connection without an answer");
    else if (!this.isIdle) throw broken("it closed the connection within its answer");
  }

  protected fault(why: string): Error {
    return broken(why);
  }

  protected tooLong(): Error {
    return broken(`its head must have at most ${blockBytesMax} bytes`);
  }

  protected takeHead(lines: readonly string[]): void {
    const found = statusLine.exec(withoutCr(lines[0]));
    if (!found) throw broken("it does not begin as HTTP/1.1 must");
    const status = Number(found[2]);
    const headers = fieldsOf(lines, 1, broken);
    if (status < 200) {
      if (status === 101) throw broken("it changed to a protocol that nobody asked for");
      if (++this.interimCount > interimMax) throw broken("it sends interim answers without end");
      return;
    }
    this.begin(status, headers, found[1] === "0");
  }

  private begin(status: number, headers: string[], isOld: boolean): void {
    const { connection, coding, length } = framingFields(headers, broken);
    this.isKept = isOld ? lists(connection, "keep-alive") : !lists(connection, "close");
    const hasBody = this.method !== "HEAD" && status !== 204 && status !== 304;
    const isEmpty = !hasBody || this.frameBody(coding, length);
    this.sink.head(status, headers);
    if (isEmpty) this.complete([]);
  }

  /** How the body ends: RFC 9112 §6.3. @returns Whether it has ended already. */
  private frameBody(coding: string | undefined, length: string | undefined): boolean {
    if (coding !== undefined) {
      // Two lengths are two truths: somebody between may have believed the other.
      if (length !== undefined) throw broken("it has both a length and a transfer coding");
      if (coding === "chunked" || /[, ]chunked$/.test(coding)) {
        this.expectPieces();
        return false;
      }
    } else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw broken("its length is no number");
      this.expectLength(Number(length));
      return Number(length) === 0;
    }
    this.isKept = false;
    this.expectUntilClose();
    return false;
  }
}

/** Whatever an engine answers that cannot be understood in one way alone. */
function broken(why: string): OtelaError {
  return new OtelaError("worker_failed", `Cannot read the engine's answer: ${why}`);
}
