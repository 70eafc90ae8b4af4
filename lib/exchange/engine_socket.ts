// How does a WebSocket of the mesh become one at the engine?
import type { IncomingMessage } from "node:http";
// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { messageOf } from "../base/errors.ts";
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
  private readonly socket: WebSocket;
  private readonly assembler = new MessageAssembler();
  private isOver = false;

  constructor(
    upstream: Upstream,
    head: ExchangeRequestHead,
    private readonly exchange: SocketPeer,
    private readonly onOver: () => void,
  ) {
    const url = socketUrl(upstream, head.path);
    const { headers, protocols } = handshake(head, upstream);
    this.socket = new WebSocket(url, protocols, {
      headers,
      perMessageDeflate: false,
      handshakeTimeout: handshakeMsMax,
      followRedirects: false,
    });
    this.socket.on("open", () => this.opened());
    this.socket.on("unexpected-response", (_request, response) => void this.refused(response));
    this.socket.on("message", (data, isBinary) => this.fromEngine(data as Uint8Array, isBinary));
    this.socket.on("close", (code, reason) => this.closedByEngine(code, reason.toString()));
    this.socket.on("error", (error) => this.failed(error));
  }

  /** Sent and not yet taken by the engine's connection. */
  get bufferedBytes(): Bytes {
    return this.socket.bufferedAmount;
  }

  data(): void {}
  end(): void {}

  canceled(): void {
    if (this.isOver) return;
    this.over();
    this.socket.terminate();
  }

  writable(): void {
    if (this.socket.isPaused) this.socket.resume();
  }

  messagePart(isText: boolean, part: Uint8Array, isLast: boolean): void {
    const message = this.assembler.push(part, isLast);
    if (message === "too_large") {
      this.exchange.closeSocket(1009, "a message was too large");
      return this.canceled();
    }
    if (!message) return this.exchange.consumed(part.length);
    // The last part is granted again once the engine's connection took the message.
    this.socket.send(message, { binary: !isText }, () => this.exchange.consumed(part.length));
  }

  socketClosed(code: number, reason: string): void {
    if (this.isOver) return;
    this.over();
    if (code >= 1000 && code < 5000 && code !== 1005 && code !== 1006) {
      this.socket.close(code, reason);
    } else this.socket.terminate();
  }

  private opened(): void {
    if (this.isOver) return;
    const { protocol } = this.socket;
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
    this.socket.terminate();
  }

  private fromEngine(data: Uint8Array, isBinary: boolean): void {
    if (this.isOver) return;
    const queuedBytes = this.exchange.sendMessage(!isBinary, new Uint8Array(data));
    if (queuedBytes > queuedBytesMax) this.socket.pause();
  }

  private closedByEngine(code: number, reason: string): void {
    if (this.isOver) return;
    this.over();
    this.exchange.closeSocket(code, reason);
  }

  private failed(error: Error): void {
    if (this.isOver) return;
    this.over();
    const isUnseen = "code" in error && error.code === "ECONNREFUSED";
    this.exchange.fail(
      isUnseen ? "engine_unreachable" : "engine_failed",
      isUnseen ? "refused" : "sent",
      messageOf(error),
    );
  }

  private over(): void {
    this.isOver = true;
    this.onOver();
  }
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
