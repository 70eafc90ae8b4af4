// How does an HTTP connection become a WebSocket?
import type { Bytes } from "../base/units.ts";
import { AnswerFields } from "./plain_answer.ts";
import type { ServerAnswer } from "./types.ts";

/** Who hears a client's socket. Nothing comes after `closed`. */
export type ClientSocketHandlers = {
  message(message: string | Uint8Array<ArrayBuffer>): void;
  /** @param code 1005 when the client gave none, 1006 when the connection broke. */
  closed(code: number, reason: string): void;
};

/** A client's WebSocket, open. */
export type ClientSocket = {
  /** Sent, and not yet taken by the system. */
  readonly bufferedBytes: Bytes;
  send(message: string | Uint8Array): void;
  /** @param code One that may travel (RFC 6455 §7.4). */
  close(code: number, reason: string): void;
  /** Once, in the turn in which it opens. */
  bind(handlers: ClientSocketHandlers): void;
};

/** Who takes the bytes of a connection that is HTTP no more. */
export type RawReader = {
  /** @param chunk Valid until the call returns. @returns False to read no further for now. */
  bytes(chunk: Uint8Array): boolean;
  ended(): void;
};

/** What they ask of it. */
export type RawSide = {
  /** @throws {Error} When not all of them left. */
  write(bytes: Uint8Array): Promise<void>;
  resume(): void;
  /** Nothing more is written. */
  finish(): Promise<void>;
  close(): void;
};

/** The answer to a WebSocket's handshake, by which the connection stops being HTTP. */
export class SocketAnswer implements ServerAnswer {
  readonly status = 101;
  readonly headers = new AnswerFields();
  readonly body = null;

  /**
   * @param protocol The sub-protocol that was chosen, empty for none.
   * @param opened Gets the socket, unless the client has left before.
   * @param lost Called instead.
   */
  constructor(
    readonly protocol: string,
    readonly opened: (socket: ClientSocket) => void,
    readonly lost: () => void,
  ) {}
}
