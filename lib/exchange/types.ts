// What is an exchange: one HTTP request and its answer, carried to a peer?
import type { PeerId } from "../base/peer_id.ts";
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { Bytes } from "../base/units.ts";
import type { AnswerBody, BodyFollower, BodyStream } from "./answer_body.ts";
import { ExchangeError } from "./exchange_error.ts";

export { ExchangeError };
export type { BodyFollower, BodyStream, ExchangeFailure, ExchangePhase };

/** Header names and values in turn, in wire order, names in lower case: `["content-type", "text/plain"]`. */
export type HeaderList = string[];

/** The head of a request as the worker needs it. */
export type ExchangeRequestHead = {
  /** Name of the worker's service. */
  readonly service: string;
  readonly method: string;
  /** Raw path and query for the engine, byte for byte, beginning with `/`. */
  readonly path: string;
  /** Already cleaned: no hop-by-hop headers, no credentials, no trust headers. */
  readonly headers: HeaderList;
  /** Length of the body in bytes, -1 when unknown. */
  readonly bodyBytes: Bytes | -1;
};

/** The answer, once its head is here. */
export type ExchangeResponse = {
  readonly status: number;
  readonly headers: HeaderList;
  /** Whole when it came with its head, `null` when there is none, else in pieces; reading errors with an `ExchangeError`. */
  readonly body: Uint8Array<ArrayBuffer> | null | AnswerBody;
  /** After the body ended: HTTP trailers of the engine; empty before. */
  readonly trailers: () => HeaderList;
};

/**
 * Watches the body of one answer pass by. All calls happen while bytes are handled, so none may throw or take
 * long.
 */
export type AnswerObserver = {
  /** @param chunk Valid until the call returns. */
  chunk?(chunk: Uint8Array): void;
  /** Last bytes for the reader when the body breaks off, before its stream errors. */
  tail?(error: ExchangeError): Uint8Array<ArrayBuffer> | undefined;
  /** The body is over: whole, given up by its reader, or broken off. Exactly once. */
  ended(end: "whole" | "canceled" | ExchangeError): void;
};

/** Decides at the head whether the body is watched; called in the same turn, before any byte of the body. */
export type ObserveAnswer = (status: number, headers: HeaderList) => AnswerObserver | undefined;

/** A running exchange. */
export type Exchange = {
  /** Settles when the head is here; rejects with an `ExchangeError`. */
  readonly response: Promise<ExchangeResponse>;
  /** Ends it on both sides; idempotent; harmless after the end. */
  cancel(reason: string): void;
};

/** A WebSocket through the mesh: messages, not bytes. */
export type SocketSession = {
  /** The sub-protocol that the engine chose; empty when none. */
  readonly protocol: string;
  /** Sends one message to the engine; returns bytes queued and not yet sent. */
  send(message: string | Uint8Array<ArrayBuffer>): Bytes;
  close(code: number, reason: string): void;
  /** Set once, at once. Nothing comes after `closed`. */
  bind(handlers: {
    message(message: string | Uint8Array<ArrayBuffer>): void;
    closed(code: number, reason: string): void;
  }): void;
};

/** Opened, or the engine's own refusal for the client. */
export type SocketOpening =
  | { readonly opened: true; readonly session: SocketSession }
  | { readonly opened: false; readonly response: ExchangeResponse };

/** Carries exchanges to services of peers, this node's own included (port; see `client.ts` for the mesh). */
export interface Exchanger {
  /**
   * @param peer Who serves; may be this node itself.
   * @param body `null` for none; bytes are not changed afterwards by the caller.
   */
  request(
    peer: PeerId,
    head: ExchangeRequestHead,
    body: Uint8Array<ArrayBuffer> | null | BodyStream,
    observe?: ObserveAnswer,
  ): Exchange;
  /** Opens a WebSocket at the engine. @throws {ExchangeError} */
  openSocket(peer: PeerId, head: ExchangeRequestHead, signal: AbortSignal): Promise<SocketOpening>;
}
