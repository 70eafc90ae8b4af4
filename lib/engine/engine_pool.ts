// Which connections to an engine are there, and which request gets which?
import { setImmediate } from "node:timers";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, type Ms, secondMs } from "../base/units.ts";
import { connectEngine, type EngineAddress } from "./connect_engine.ts";
import { EngineConnection } from "./engine_connection.ts";
import { EngineRequest, type ReplySink } from "./engine_request.ts";
import type { EngineSocket } from "./engine_socket.ts";
import { encodeRequestHead, type EngineRequestHead } from "./http_request.ts";

/** Where an engine is, and bounds on connections to it. */
export type EnginePoolOptions = EngineAddress & {
  /** Beyond them requests wait in order. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: Ms;
};

/** How often idle connections are looked at; engines keep them for seconds. */
const sweepMs: Ms = secondMs;

type Idle = { readonly connection: EngineConnection; readonly sinceMs: Ms };

/**
 * HTTP/1.1 connections to one engine, one request at a time on each. Opens nothing by itself. Follows, inflates and
 * repeats nothing.
 *
 * Our own, as the client library before it (undici 7.30.2) reads an engine in Node's paused mode through a parser in
 * WebAssembly: with 1,000 streams a worker took 21 µs of processor for an event, with this 16 (side by side).
 */
export class EnginePool {
  private readonly host: string;
  private readonly connections = new Set<EngineConnection>();
  private readonly connecting = new Set<EngineRequest>();
  private readonly waiting: EngineRequest[] = [];
  /** The one used last is the first to be used again. */
  private readonly idle: Idle[] = [];
  /** Their answers ended in this turn. */
  private resting: EngineConnection[] = [];
  private isResting = false;
  private timer: ReturnType<typeof setInterval> | undefined;
  private isClosing = false;
  private isDestroyed = false;
  private readonly closed = Promise.withResolvers<void>();

  constructor(private readonly options: EnginePoolOptions) {
    this.host = new URL(options.origin).host;
  }

  /** Connections that are open, and requests that wait for one. */
  get counts(): { readonly connections: number; readonly waiting: number } {
    return { connections: this.connections.size, waiting: this.waiting.length };
  }

  /**
   * Sends a request as soon as there is a connection for it.
   * @param body The first bytes, or all of them when `isWhole`; copied.
   * @throws {OtelaError} `bad_request` when it cannot be sent as it is; `node_stopping` after `close`.
   */
  start(
    head: EngineRequestHead,
    body: Uint8Array,
    isWhole: boolean,
    reply: ReplySink,
  ): EngineRequest {
    if (this.isClosing) {
      throw new OtelaError("node_stopping", "Cannot ask the engine as its service was removed");
    }
    const sized = withLength(head, body.length, isWhole);
    const text = encodeRequestHead(sized, this.host);
    const request = new EngineRequest(sized, text, body, isWhole, reply, this.dropped);
    this.place(request);
    return request;
  }

  /** Takes nothing new; returns once what runs has ended. */
  close(): Promise<void> {
    this.isClosing = true;
    for (const { connection } of this.idle.splice(0)) connection.close();
    this.settle();
    return this.closed.promise;
  }

  /** Ends everything now; what runs fails. */
  destroy(): Promise<void> {
    this.isDestroyed = true;
    const error = new Error("the connections to the engine are closed");
    for (const request of this.waiting.splice(0)) request.failed(error, "waiting");
    for (const request of [...this.connecting]) request.failed(error, "waiting");
    for (const connection of [...this.connections]) connection.close(error);
    return this.close();
  }

  private place(request: EngineRequest): void {
    const idle = this.idle.pop();
    if (idle) idle.connection.carry(request);
    // One that rests is free in a moment: sooner than another could be made.
    else if (this.resting.length > this.waiting.length) this.waiting.push(request);
    else if (this.connections.size + this.connecting.size < this.options.connectionsMax) {
      this.connecting.add(request);
      void this.connectFor(request);
    } else this.waiting.push(request);
  }

  /** A request ended before it had a connection. */
  private readonly dropped = (request: EngineRequest): void => {
    const at = this.waiting.indexOf(request);
    if (at >= 0) this.waiting.splice(at, 1);
    this.settle();
  };

  private async connectFor(request: EngineRequest): Promise<void> {
    let socket: EngineSocket | undefined;
    try {
      socket = await connectEngine(this.options, this.options.connectTimeoutMs);
    } catch (error) {
      request.failed(error as Error, "connecting");
    }
    this.connecting.delete(request);
    if (socket) this.opened(new EngineConnection(socket, this), request);
    else this.serveNext();
    this.settle();
  }

  private opened(connection: EngineConnection, request: EngineRequest): void {
    this.connections.add(connection);
    if (!request.isOver) connection.carry(request);
    // Its request went away meanwhile. Another may be waiting, and connections are dear.
    else if (this.isClosing) connection.close();
    else this.offer(connection);
  }

  // What connections say.

  /**
   * Offered again only after this turn of the event loop: an engine that has closed it, as some do after each answer
   * without saying so, is then heard first.
   */
  free(connection: EngineConnection): void {
    this.resting.push(connection);
    if (this.isResting) return;
    this.isResting = true;
    setImmediate(() => this.rested());
  }

  gone(connection: EngineConnection): void {
    this.connections.delete(connection);
    const at = this.idle.findIndex((idle) => idle.connection === connection);
    if (at >= 0) this.idle.splice(at, 1);
    this.resting = this.resting.filter((resting) => resting !== connection);
    this.serveNext();
    this.settle();
  }

  private rested(): void {
    const rested = this.resting;
    this.resting = [];
    this.isResting = false;
    for (const connection of rested) {
      const isDone = this.isClosing && this.waiting.length === 0;
      if (isDone || !connection.isWritten) connection.close();
      else this.offer(connection);
    }
  }

  private offer(connection: EngineConnection): void {
    const next = this.waiting.shift();
    if (next) return connection.carry(next);
    this.idle.push({ connection, sinceMs: performance.now() });
    this.timer ??= setInterval(() => this.sweep(), sweepMs);
  }

  /** There is room for one connection more. */
  private serveNext(): void {
    const next = this.waiting.shift();
    if (next) this.place(next);
  }

  private sweep(): void {
    const nowMs = performance.now();
    const late = this.idle.filter(({ connection, sinceMs }) =>
      nowMs - sinceMs >= connection.idleMs
    );
    for (const { connection } of late) connection.close();
    if (this.idle.length === 0) this.stopTimer();
  }

  private stopTimer(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Whether a pool that closes has closed. */
  private settle(): void {
    if (!this.isClosing || this.connections.size > 0) return;
    // One that is still being made is closed when it is there; nobody need wait for that.
    if (this.connecting.size > 0 && !this.isDestroyed) return;
    this.stopTimer();
    this.closed.resolve();
  }
}

/**
 * A body that is all here has the length it has.
 * @param bytes Of the body, as far as it is here.
 * @throws {OtelaError} `bad_request` when it contradicts what was announced: an engine would take the rest of too long a
 * body for another request.
 */
function withLength(head: EngineRequestHead, bytes: Bytes, isWhole: boolean): EngineRequestHead {
  const { bodyBytes } = head;
  if (bodyBytes < 0) return isWhole ? { ...head, bodyBytes: bytes } : head;
  if (isWhole ? bodyBytes === bytes : bodyBytes >= bytes) return head;
  throw new OtelaError(
    "bad_request",
    "Cannot send a request to an engine as its body has another length than it was said to have",
  );
}
