// How does a node serve a request with its own engine, without the network?
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { Bytes } from "../base/units.ts";
import { cutReason } from "../lane/socket_frames.ts";
import { Answer } from "./answer.ts";
import { BodyPump } from "./body_pump.ts";
import type { AnswerTaker, EngineCall } from "./engine_call.ts";
import type { EngineCalls } from "./engine_calls.ts";
import { EngineSocket, type SocketPeer } from "./engine_socket.ts";
import { SocketAnswer } from "./socket_answer.ts";
import {
  type BodyStream,
  type Exchange,
  ExchangeError,
  type ExchangeRequestHead,
  type ObserveAnswer,
  type SocketOpening,
} from "./types.ts";
import type { FindUpstream } from "./upstream.ts";

/** Answer bytes that wait for the client before the engine is paused; as a lane's starting window. */
const unreadBytesMax: Bytes = 64 * 1024;
const nothing = new Uint8Array(0);

/** Calls this node's own engines with the same limits and errors as over a lane. */
export class LocalExchanger {
  constructor(
    private readonly calls: EngineCalls,
    private readonly findUpstream: FindUpstream,
  ) {}

  request(
    head: ExchangeRequestHead,
    body: Uint8Array | null | BodyStream,
    observe?: ObserveAnswer,
  ): Exchange {
    const local = new LocalAnswer(observe);
    const upstream = this.findUpstream(head.service);
    if (!upstream) {
      local.fail("no_such_service", "refused", `no service "${head.service}" here`);
      return { response: local.answer.response, cancel: () => {} };
    }
    const isStream = body instanceof ReadableStream;
    const first = isStream || body === null ? nothing : body;
    const call = this.calls.start(upstream, head, first, !isStream, local);
    local.attach(call, isStream ? body : undefined);
    return { response: local.answer.response, cancel: (reason) => local.cancel(reason) };
  }

  async openSocket(head: ExchangeRequestHead, signal: AbortSignal): Promise<SocketOpening> {
    const upstream = this.findUpstream(head.service);
    if (!upstream) {
      throw new ExchangeError("no_such_service", "refused", `no service "${head.service}" here`);
    }
    const answer = new SocketAnswer();
    const peer: SocketPeer = {
      head: (status, headers) => answer.head(status, headers, nothing, false),
      data: (chunk) => {
        answer.data(chunk);
        return true;
      },
      end: () => answer.end([]),
      fail: (failure, phase, message) => answer.fail(failure, phase, message),
      sendMessage: (isText, message) => {
        answer.messagePart(isText, message, true);
        return 0;
      },
      closeSocket: (code, reason) => answer.socketClosed(code, reason),
      consumed: () => {},
    };
    const socket = new EngineSocket(peer, this.calls.clock, () => {});
    answer.attach({
      send: (isText, message) => {
        socket.messagePart(isText, message, true);
        return socket.bufferedBytes;
      },
      close: (code, reason) => socket.socketClosed(code, cutReason(reason)),
      consumed: () => {},
      cancel: () => socket.canceled(),
    });
    void socket.start(upstream, head);
    return await answer.opening(signal);
  }
}

/** Joins an engine's call to an answer that a client reads. */
class LocalAnswer implements AnswerTaker {
  readonly answer: Answer;
  private call: EngineCall | undefined;
  private pump: BodyPump | undefined;
  private unreadBytes: Bytes = 0;
  /** Of the request's body, given to the call and not taken by the engine. */
  private unsentBytes: Bytes = 0;
  private isOver = false;
  /** How far the answer has come, as over a lane. */
  private reached: "head" | "body" | undefined;

  constructor(observe: ObserveAnswer | undefined) {
    this.answer = new Answer(
      () => {},
      () => this.pump?.writable(),
      () => this.pump?.stop(),
      observe,
    );
    this.answer.source = {
      consumed: (bytes) => this.read(bytes),
      cancel: () => this.cancel("the client went away"),
    };
  }

  attach(call: EngineCall, body: BodyStream | undefined): void {
    this.call = call;
    if (!body || this.isOver) return;
    this.pump = new BodyPump(body, {
      send: (chunk) => {
        this.unsentBytes += chunk.length;
        call.data(chunk);
        return this.unsentBytes < unreadBytesMax;
      },
      end: () => call.end(),
      fail: () => this.cancel("the client's body broke off"),
    });
  }

  head(status: number, headers: string[]): void {
    this.reached = "head";
    this.answer.head(status, headers, nothing, false, undefined);
  }

  data(chunk: Uint8Array): boolean {
    this.reached = "body";
    this.unreadBytes += chunk.length;
    this.answer.data(chunk);
    return this.unreadBytes < unreadBytesMax;
  }

  end(trailers: string[]): void {
    this.isOver = true;
    this.answer.end(trailers, undefined);
  }

  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    this.isOver = true;
    this.pump?.stop();
    this.answer.fail(failure, this.reached ?? phase, message);
  }

  /** The engine took bytes of the request's body. */
  consumed(bytes: Bytes): void {
    this.unsentBytes -= bytes;
    if (this.unsentBytes < unreadBytesMax) this.answer.writable();
  }

  refuseBody(): void {
    this.answer.bodyUnwanted();
  }

  cancel(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.pump?.stop();
    this.call?.canceled();
    this.answer.fail("canceled", this.reached ?? "sent", reason);
  }

  private read(bytes: Bytes): void {
    this.unreadBytes -= bytes;
    if (this.unreadBytes < unreadBytesMax) this.call?.writable();
  }
}
