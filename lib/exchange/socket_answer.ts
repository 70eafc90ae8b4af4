// How does the answer to a WebSocket's handshake become a session, or a refusal?
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { Bytes } from "../base/units.ts";
import type { AnswerSink } from "../lane/requester_exchange.ts";
import { Answer } from "./answer.ts";
import { MessageAssembler } from "./message_assembler.ts";
import { ExchangeError, type SocketOpening, type SocketSession } from "./types.ts";

/** The way to the engine. */
export type SocketLink = {
  send(isText: boolean, message: Uint8Array): Bytes;
  close(code: number, reason: string): void;
  consumed(bytes: Bytes): void;
  cancel(): void;
};

type Handlers = Parameters<SocketSession["bind"]>[0];

/** Hears the frames of one WebSocket at the requester. */
export class SocketAnswer implements AnswerSink {
  private readonly refusal = new Answer(() => {}, () => {}, () => {});
  private readonly assembler = new MessageAssembler();
  private readonly opened = Promise.withResolvers<SocketOpening>();
  private link!: SocketLink;
  private handlers: Handlers | undefined;
  private isOpen = false;

  /** Called once, before anything can arrive. */
  attach(link: SocketLink): void {
    this.link = link;
    this.refusal.source = { consumed: link.consumed, cancel: link.cancel };
    this.refusal.response.then(
      (response) => this.opened.resolve({ opened: false, response }),
      (error) => this.opened.reject(error),
    );
  }

  /** @throws {ExchangeError} When the worker failed, or `signal` ended the wait. */
  async opening(signal: AbortSignal): Promise<SocketOpening> {
    const abort = () => {
      this.link.cancel();
      this.opened.reject(new ExchangeError("canceled", "sent", "the client went away"));
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await this.opened.promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  head(status: number, headers: string[], body: Uint8Array, isEnd: boolean): void {
    if (status !== 101) return this.refusal.head(status, headers, body, isEnd, undefined);
    this.isOpen = true;
    const at = headers.indexOf("sec-websocket-protocol");
    const protocol = at >= 0 ? headers[at + 1] : "";
    this.opened.resolve({ opened: true, session: this.session(protocol) });
  }

  data(chunk: Uint8Array): void {
    this.refusal.data(chunk);
  }

  end(trailers: string[]): void {
    if (this.isOpen) this.socketClosed(1006, "");
    else this.refusal.end(trailers, undefined);
  }

  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    if (this.isOpen) this.socketClosed(1011, "the worker was lost");
    else this.refusal.fail(failure, phase, message);
  }

  writable(): void {}
  bodyUnwanted(): void {}

  messagePart(isText: boolean, part: Uint8Array, isLast: boolean): void {
    const message = this.assembler.push(part, isLast);
    this.link.consumed(part.length);
    if (message === "too_large") {
      this.link.cancel();
      return this.socketClosed(1009, "a message was too large");
    }
    if (message) this.handlers?.message(isText ? new TextDecoder().decode(message) : message);
  }

  socketClosed(code: number, reason: string): void {
    const handlers = this.handlers;
    this.handlers = undefined;
    handlers?.closed(code, reason);
  }

  private session(protocol: string): SocketSession {
    return {
      protocol,
      send: (message) =>
        typeof message === "string"
          ? this.link.send(true, new TextEncoder().encode(message))
          : this.link.send(false, message),
      close: (code, reason) => this.link.close(code, reason),
      bind: (handlers) => this.handlers = handlers,
    };
  }
}
