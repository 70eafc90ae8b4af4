// What does a handler see of a request, and what may it answer?
import type { OtelaError } from "../base/errors.ts";
import type { BodyStream, PushedBody } from "./pushed_body.ts";

/** A request as handlers read it; a `Request` is one. */
export type ServerRequest = {
  readonly method: string;
  /** `http://`, the client's host and its target, which nobody has normalised. */
  readonly url: string;
  readonly headers: {
    forEach(visit: (value: string, name: string) => void): void;
  };
  /** `null` when there is none. Not beside `bytes`. */
  readonly body: BodyStream | null;
  /** Aborts when the client leaves before its answer is whole. */
  readonly signal: AbortSignal;
  /** The whole body. @throws {Error} When it breaks off. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
};

/** The headers of an answer; `Headers` are such. */
export type AnswerHeaders = {
  get(name: string): string | null;
  has(name: string): boolean;
  /** @throws {TypeError} When HTTP has no form for it. */
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  forEach(visit: (value: string, name: string) => void): void;
};

/** An answer; a `Response` is one, as far as its maker set the length of a body that has one. */
export type ServerAnswer = {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Uint8Array<ArrayBuffer> | PushedBody | ReadableStream<Uint8Array> | null;
};

/** As much of a connection as the server needs. */
export type ByteConnection = Pick<
  Deno.TcpConn,
  "read" | "write" | "close" | "closeWrite" | "remoteAddr"
>;

/** What the server knows of a connection. */
export type ConnectionFacts = { readonly remoteAddr: Deno.Addr };

/** Answers requests. */
export type ServerHandlers = {
  /** Must not throw or reject. */
  answer(
    request: ServerRequest,
    connection: ConnectionFacts,
  ): ServerAnswer | Promise<ServerAnswer>;
  /** Says why the bytes of a client are no request; the connection ends after it. */
  refuse(error: OtelaError): ServerAnswer;
};
