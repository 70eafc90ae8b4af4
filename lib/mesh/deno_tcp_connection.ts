// How do bytes flow between libp2p and one TCP socket?
import type { AbortOptions } from "@libp2p/interface";
import { AbstractMultiaddrConnection, type AbstractMultiaddrConnectionInit } from "@libp2p/utils";
import type { ByteSlab } from "../base/byte_slab.ts";
import { type Bytes, KiB, type Ms } from "../base/units.ts";
import type { WriteBuffers } from "./write_buffers.ts";
import { WriteQueue } from "./write_queue.ts";

/** The part of `Deno.TcpConn` that a connection uses (port; tests cut its writes at random). */
export type Socket = Pick<Deno.TcpConn, "read" | "write" | "close" | "setNoDelay">;

/**
 * libp2p is told to wait above this, and to go on below half of it. What waits here delays every stream of the
 * connection, so it is small: 20 ms at 100 Mbit/s; the kernel's send buffer behind it is far larger.
 */
export const queuedBytesMax: Bytes = 256 * KiB;

/** An idle connection keeps this much; a full read exchanges it for `readBytesMax`. */
const readBytesMin: Bytes = 4 * KiB;
const readBytesMax: Bytes = 64 * KiB;

/** What was sent before a close has this long to leave when the caller sets no deadline (libp2p's default). */
const closeAfterMs: Ms = 1_000;

export type DenoTcpConnectionInit = Omit<AbstractMultiaddrConnectionInit, "name"> & {
  readonly socket: Socket;
  readonly writeBuffers: WriteBuffers;
  /** Where what was read is copied to; shared, as an idle connection needs little of it. */
  readonly readSlab: ByteSlab;
};

/**
 * One TCP connection as libp2p wants it. Everything sent in one turn of the event loop leaves in one write; one
 * read buffer is kept and what arrived is copied out, since a fresh 64 KiB buffer for each read makes V8
 * collect garbage every 50 ms.
 */
export class DenoTcpConnection extends AbstractMultiaddrConnection {
  readonly #socket: Socket;
  readonly #queue: WriteQueue;
  readonly #readSlab: ByteSlab;
  #isFlushing = false;
  #isClosed = false;
  #resume: PromiseWithResolvers<void> | undefined;
  #flushed: PromiseWithResolvers<void> | undefined;

  constructor({ socket, writeBuffers, readSlab, ...init }: DenoTcpConnectionInit) {
    super(init);
    this.#socket = socket;
    this.#queue = new WriteQueue(writeBuffers);
    this.#readSlab = readSlab;
    // Small messages leave at once; without it a second one waits for the first one's acknowledgement.
    socket.setNoDelay(true);
    // In a microtask, so that whoever made this connection can listen before the first bytes.
    queueMicrotask(() => this.#readAll());
  }

  override sendData(data: Iterable<Uint8Array> & { byteLength: Bytes }): {
    sentBytes: Bytes;
    canSendMore: boolean;
  } {
    const sentBytes = data.byteLength;
    for (const piece of data) this.#queue.push(piece);
    if (!this.#isFlushing) {
      this.#isFlushing = true;
      queueMicrotask(() => this.#flush());
    }
    return { sentBytes, canSendMore: this.#queue.byteCount < queuedBytesMax };
  }

  override sendPause(): void {
    this.#resume ??= Promise.withResolvers();
  }

  override sendResume(): void {
    this.#resume?.resolve();
    this.#resume = undefined;
  }

  override sendReset(): void {
    this.#closeSocket();
  }

  /** Lets what was sent leave, at most until the signal aborts, then closes the socket. */
  override async sendClose(options?: AbortOptions): Promise<void> {
    if (this.#isFlushing) await this.#flushedWithin(options?.signal);
    this.#closeSocket();
  }

  async #flushedWithin(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = this.#flushed = Promise.withResolvers<void>();
    const giveUp = () => resolve();
    const timer = setTimeout(giveUp, closeAfterMs);
    signal?.addEventListener("abort", giveUp, { once: true });
    if (!signal?.aborted) await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }

  async #readAll(): Promise<void> {
    let buffer = new Uint8Array(readBytesMin);
    try {
      while (!this.#isClosed) {
        if (this.#resume) await this.#resume.promise;
        const count = await this.#socket.read(buffer);
        if (count === null) break;
        this.onData(this.#readSlab.copy(buffer.subarray(0, count)));
        if (count === buffer.byteLength && count < readBytesMax) {
          buffer = new Uint8Array(readBytesMax);
        }
      }
      this.#end(undefined);
    } catch (error) {
      this.#end(error as Error);
    }
  }

  async #flush(): Promise<void> {
    const write = (bytes: Uint8Array) => this.#socket.write(bytes);
    try {
      while (this.#queue.byteCount > 0) {
        await this.#queue.writeBatch(write);
        if (this.writableNeedsDrain && this.#queue.byteCount < queuedBytesMax / 2) {
          this.safeDispatchEvent("drain");
        }
      }
    } catch (error) {
      this.#end(error as Error);
    }
    this.#isFlushing = false;
    this.#flushed?.resolve();
  }

  /** The socket is over: every stream on it learns so in this turn. */
  #end(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#closeSocket();
    this.onTransportClosed(error);
  }

  #closeSocket(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.clear();
    this.sendResume();
    try {
      this.#socket.close();
    } catch {
      // Closed by the other side already: what we wanted.
    }
  }
}
