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

/** Parts of messages, empty ones too, that may wait for `bind`, which comes in the turn of the handshake. A guess. */
const waitingMax = 1_024;

type Handlers = Parameters<SocketSession["bind"]>[0];

/** Hears the frames of one WebSocket at the requester. */
export class SocketAnswer implements AnswerSink {
  private readonly refusal = new Answer(() => {}, () => {}, () => {});
  private readonly assembler = new MessageAssembler();
  private readonly opened = Promise.withResolvers<SocketOpening>();
  private link!: SocketLink;
  private handlers: Handlers | undefined;
  private isOpen = false;
  /** What came before `bind`; no credit is given for it, so it is bounded by the window. */
  private readonly waiting: (() => void)[] = [];
  private closed: { code: number; reason: string } | undefined;

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
    if (this.closed) return;
    const message = this.assembler.push(part, isLast);
    if (message === "too_large") {
      this.link.cancel();
      return this.socketClosed(1009, "a message was too large");
    }
    const act = () => {
      this.link.consumed(part.length);
      if (message) this.handlers?.message(isText ? new TextDecoder().decode(message) : message);
    };
    if (this.handlers) return act();
    this.waiting.push(act);
    if (this.waiting.length <= waitingMax) return;
    this.link.cancel();
    this.socketClosed(1013, "too many messages came before there was a reader");
  }

  socketClosed(code: number, reason: string): void {
    if (!this.isOpen) {
      return this.refusal.fail(
        "protocol",
        "sent",
        "the worker closed a WebSocket before it opened",
      );
    }
    this.closed ??= { code, reason };
    this.tellClosed();
  }

  private tellClosed(): void {
    const { handlers, closed } = this;
    if (!handlers || !closed) return;
    this.handlers = undefined;
    handlers.closed(closed.code, closed.reason);
  }

  /** Engines greet at once: what came between the handshake and this moment is told first. */
  private bind(handlers: Handlers): void {
    this.handlers = handlers;
    for (const act of this.waiting.splice(0)) act();
    this.tellClosed();
  }

  private session(protocol: string): SocketSession {
    return {
      protocol,
      send: (message) =>
        typeof message === "string"
          ? this.link.send(true, new TextEncoder().encode(message))
          : this.link.send(false, message),
      close: (code, reason) => this.link.close(code, reason),
      bind: (handlers) => this.bind(handlers),
    };
  }
}
