// How does a WebSocket of the mesh become one at the engine?
import type { IncomingMessage } from "node:http";
// @ts-types="@types/ws"
import type { WebSocket } from "ws";
import { messageOf } from "../base/errors.ts";
import type { ExchangePhase } from "../base/outcome.ts";
import type { Clock } from "../base/ports.ts";
import { type Bytes, KiB, MiB, type Ms, secondMs } from "../base/units.ts";
import type { RequestSink } from "../lane/responder_exchange.ts";
import { MessageAssembler } from "./message_assembler.ts";
import type { AnswerTaker } from "./engine_call.ts";
import type { ExchangeRequestHead } from "./types.ts";
import type { Upstream } from "./upstream.ts";

/** Who asked for the socket: a lane's exchange, or this node's own client door. */
export interface SocketPeer extends Omit<AnswerTaker, "refuseBody"> {
  /** @returns Bytes that wait. */
  sendMessage(isText: boolean, message: Uint8Array): Bytes;
  closeSocket(code: number, reason: string): void;
}

/** Until the engine has answered the handshake. A guess. */
const handshakeMsMax: Ms = 30 * secondMs;
/** What of a refusal's body is passed on. */
const refusalBytesMax: Bytes = 64 * KiB;
/** Messages from the engine that wait for the client's credit before the engine is paused. */
const queuedBytesMax: Bytes = MiB;
/** "No status received": the other side closed without a code. */
const noCode = 1005;
/** RFC 6455's "open", as `readyState` shows it. */
const openState = 1;
/** Fields of the client's handshake that this node's own handshake makes anew. */
const ownFields = new Set([
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-extensions",
]);

/**
 * One WebSocket to an engine. The engine's handshake comes first: its refusal reaches the client as an answer,
 * before the client was upgraded.
 */
export class EngineSocket implements RequestSink {
  /** Not there before `start`, nor when the handshake could not even be written. */
  private socket: WebSocket | undefined;
  private readonly assembler = new MessageAssembler();
  private isOver = false;
  /** Bytes of messages that the requester has not been granted again. */
  private owedBytes: Bytes = 0;

  constructor(
    private readonly exchange: SocketPeer,
    private readonly clock: Clock,
    private readonly onOver: () => void,
  ) {}

  /** Sends the handshake. */
  async start(upstream: Upstream, head: ExchangeRequestHead): Promise<void> {
    let socket: WebSocket;
    try {
      socket = await openSocket(upstream, head);
      if (this.isOver) {
        socket.on("error", () => {}); // It says that it was ended.
        return socket.terminate();
      }
    } catch (error) {
      // A client chooses the sub-protocols, and a wrong one throws: it must not cost others their lane.
      return this.failed(error, "refused");
    }
    this.socket = socket;
    socket.on("open", () => this.opened());
    socket.on("unexpected-response", (_request, response) => void this.refused(response));
    socket.on("message", (data, isBinary) => this.fromEngine(data as Uint8Array, isBinary));
    socket.on("close", (code, reason) => this.closedByEngine(code, reason.toString()));
    socket.on("error", (error) => this.failed(error));
  }

  /** Sent and not yet taken by the engine's connection. */
  get bufferedBytes(): Bytes {
    return this.socket?.bufferedAmount ?? 0;
  }

  data(): void {}
  end(): void {}

  canceled(): void {
    if (this.isOver) return;
    this.over();
    this.socket?.terminate();
  }

  writable(): void {
    if (this.socket?.isPaused) this.socket.resume();
  }

  messagePart(isText: boolean, part: Uint8Array, isLast: boolean): void {
    const message = this.assembler.push(part, isLast);
    if (message === "too_large") {
      this.exchange.closeSocket(1009, "a message was too large");
      return this.canceled();
    }
    this.owedBytes += part.length;
    // What came before the engine accepted was not asked for, and `send` throws at it.
    if (message && this.socket?.readyState === openState) {
      this.socket.send(message, { binary: !isText }, () => this.grant());
    }
    this.grant();
  }

  /** While the engine takes too little, the requester gets no credit for more. */
  private grant(): void {
    if (this.isOver || this.bufferedBytes > queuedBytesMax) return;
    const bytes = this.owedBytes;
    this.owedBytes = 0;
    if (bytes > 0) this.exchange.consumed(bytes, this.clock.nowMs());
  }

  socketClosed(code: number, reason: string): void {
    if (this.isOver) return;
    this.over();
    if (code === noCode) this.socket?.close();
    else if (isSendable(code)) this.socket?.close(code, reason);
    else this.socket?.terminate();
  }

  private opened(): void {
    if (this.isOver) return;
    const protocol = this.socket?.protocol;
    this.exchange.head(101, protocol ? ["sec-websocket-protocol", protocol] : []);
  }

  private async refused(response: IncomingMessage): Promise<void> {
    if (this.isOver) return;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response) {
        bytes += chunk.length;
        if (bytes > refusalBytesMax) break;
        chunks.push(chunk);
      }
    } catch {
      // What arrived of the refusal is still the best answer there is.
    }
    if (this.isOver) return;
    this.over();
    const contentType = response.headers["content-type"];
    this.exchange.head(
      response.statusCode ?? 502,
      contentType ? ["content-type", contentType] : [],
    );
    for (const chunk of chunks) this.exchange.data(chunk);
    this.exchange.end([], 0);
    this.socket?.terminate();
  }

  private fromEngine(data: Uint8Array, isBinary: boolean): void {
    if (this.isOver) return;
    const queuedBytes = this.exchange.sendMessage(!isBinary, new Uint8Array(data));
    if (queuedBytes > queuedBytesMax) this.socket?.pause();
  }

  private closedByEngine(code: number, reason: string): void {
    if (this.isOver) return;
    this.over();
    this.exchange.closeSocket(code, reason);
  }

  private failed(error: unknown, phase: ExchangePhase = "sent"): void {
    if (this.isOver) return;
    this.over();
    const isUnseen = isNotConnected(error);
    this.exchange.fail(
      isUnseen ? "engine_unreachable" : "engine_failed",
      isUnseen ? "refused" : phase,
      messageOf(error),
    );
  }

  private over(): void {
    this.isOver = true;
    this.onOver();
  }
}

/** @throws {Error} When the client asked for something that no handshake can say. */
/** Loaded with the first socket: most workers never open one, and `ws` takes 8 MB with what it needs of Node. */
async function openSocket(upstream: Upstream, head: ExchangeRequestHead): Promise<WebSocket> {
  const { WebSocket } = await import("ws");
  const { headers, protocols } = handshake(head, upstream);
  return new WebSocket(socketUrl(upstream, head.path), protocols, {
    headers,
    perMessageDeflate: false,
    handshakeTimeout: handshakeMsMax,
    followRedirects: false,
  });
}

/** Errors that mean: no connection was made, so the engine saw nothing. */
const connectErrors = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EACCES",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);

/** Whether an error of `ws` means that the engine saw nothing. */
function isNotConnected(error: unknown): boolean {
  return connectErrors.has((error as { code?: string } | undefined)?.code ?? "");
}

/** RFC 6455 §7.4: other codes never stand in a close frame, and `close` throws at them. */
function isSendable(code: number): boolean {
  const isReserved = code >= 1004 && code <= 1006;
  return (code >= 1000 && code <= 1014 && !isReserved) || (code >= 3000 && code <= 4999);
}

function socketUrl(upstream: Upstream, path: string): string {
  return upstream.origin.replace(/^http/, "ws") + upstream.basePath + path;
}

function handshake(
  head: ExchangeRequestHead,
  upstream: Upstream,
): { headers: Record<string, string>; protocols: string[] } {
  const headers: Record<string, string> = {};
  let protocols: string[] = [];
  const all = [...head.headers, ...upstream.headers];
  for (let i = 0; i < all.length; i += 2) {
    if (all[i] === "sec-websocket-protocol") {
      protocols = all[i + 1].split(",").map((protocol) => protocol.trim()).filter(Boolean);
    } else if (!ownFields.has(all[i])) headers[all[i]] = all[i + 1];
  }
  return { headers, protocols };
}
