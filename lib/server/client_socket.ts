// How does a client's connection speak WebSocket?
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import type { IncomingMessage } from "node:http";
// @ts-types="@types/ws"
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { type Bytes, MiB, type Ms, secondMs } from "../base/units.ts";
import type { RequestHead } from "../http/request_reader.ts";
import type {
  ClientSocket,
  ClientSocketHandlers,
  RawReader,
  RawSide,
  SocketAnswer,
} from "./socket_answer.ts";

/** As a worker takes them. */
const messageBytesMax: Bytes = 16 * MiB;
/** Between two pings; a client that answers none within it is gone. A guess. */
const pingEveryMs: Ms = 60 * secondMs;

/** A connection as Node's packages read one. */
class RawStream extends Duplex implements RawReader {
  private hasEnded = false;

  constructor(private readonly connection: RawSide) {
    super({ allowHalfOpen: false });
  }

  bytes(chunk: Uint8Array): boolean {
    return this.push(Buffer.from(chunk));
  }

  ended(): void {
    if (this.hasEnded || this.destroyed) return;
    this.hasEnded = true;
    this.push(null);
  }

  override _read(): void {
    this.connection.resume();
  }

  override _write(chunk: Uint8Array, _: string, done: (error?: Error | null) => void): void {
    this.connection.write(chunk).then(() => done(), (error) => done(error as Error));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.connection.finish().then(() => done(), () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.connection.close();
    done(error);
  }
}

/** What our part of the handshake reads of a request, with what was decided about it. */
type Asked = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: SocketAnswer;
};

const server = makeServer();

function makeServer(): WebSocketServer {
  const made = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handleProtocols: (_, request) => (request as unknown as Asked).answer.protocol || false,
  });
  made.on("headers", (lines, request) => {
    const { answer } = request as unknown as Asked;
    answer.headers.forEach((value, name) => void lines.push(`${name}: ${value}`));
  });
  return made;
}

/**
 * Does the server's part of the handshake, which was checked by `isSocketWanted`.
 * @returns Takes what the connection reads from now on.
 */
export function openClientSocket(
  head: RequestHead,
  answer: SocketAnswer,
  connection: RawSide,
): RawReader {
  const stream = new RawStream(connection);
  const headers: Record<string, string> = {};
  for (let at = 0; at < head.headers.length; at += 2) {
    headers[head.headers[at]] = head.headers[at + 1];
  }
  const asked: Asked = { method: head.method, headers, answer };
  let isOpen = false;
  stream.once("close", () => {
    if (!isOpen) answer.lost();
  });
  stream.on("error", () => {}); // `close` follows.
  server.handleUpgrade(asked as unknown as IncomingMessage, stream, Buffer.alloc(0), (socket) => {
    isOpen = true;
    answer.opened(new WsClientSocket(socket));
  });
  return stream;
}

/** `ws` behind our port. */
class WsClientSocket implements ClientSocket {
  private isAlive = true;

  constructor(private readonly socket: WebSocket) {}

  get bufferedBytes(): Bytes {
    return this.socket.bufferedAmount;
  }

  send(message: string | Uint8Array): void {
    this.socket.send(message, { binary: typeof message !== "string" }, () => {});
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  bind(handlers: ClientSocketHandlers): void {
    const { socket } = this;
    const alive = () => void (this.isAlive = true);
    socket.on("message", (data: RawData, isBinary) => {
      alive();
      const bytes = data as Buffer;
      handlers.message(isBinary ? Uint8Array.from(bytes) : bytes.toString());
    });
    socket.on("pong", alive);
    socket.on("ping", alive);
    socket.on("error", () => {}); // `close` follows.
    const pinging = setInterval(() => {
      if (!this.isAlive) return socket.terminate();
      this.isAlive = false;
      socket.ping();
    }, pingEveryMs);
    socket.on("close", (code, reason) => {
      clearInterval(pinging);
      handlers.closed(code, reason.toString());
    });
  }
}
