// How is an engine read through Deno's own connections: Unix sockets, TLS, and all on Deno before 2.9?
import { type Bytes, KiB } from "../base/units.ts";
import type { EngineSocket, SocketHandlers } from "./engine_socket.ts";

/** Tokens fit; a full read exchanges the buffer for the larger one. */
const readBytesMin: Bytes = 4 * KiB;
const readBytesMax: Bytes = 64 * KiB;

/** The Deno adapter of `EngineSocket`. */
export class DenoSocket implements EngineSocket {
  private isClosed = false;
  private isPaused = false;
  private wake: (() => void) | undefined;

  constructor(private readonly connection: Pick<Deno.Conn, "read" | "write" | "close">) {}

  bind(handlers: SocketHandlers): void {
    void this.readAll(handlers);
  }

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.connection.write(at === 0 ? bytes : bytes.subarray(at));
    }
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.wake?.();
    this.wake = undefined;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.resume();
    try {
      this.connection.close();
    } catch {
      // The other side was faster: what we wanted.
    }
  }

  private async readAll(handlers: SocketHandlers): Promise<void> {
    let buffer = new Uint8Array(readBytesMin);
    let failure: Error | undefined;
    try {
      while (!this.isClosed) {
        const count = await this.connection.read(buffer);
        if (this.isClosed || count === null) break;
        handlers.bytes(buffer.subarray(0, count));
        if (this.isPaused) await new Promise<void>((resolve) => this.wake = resolve);
        if (count === buffer.length && count < readBytesMax) buffer = new Uint8Array(readBytesMax);
      }
    } catch (error) {
      failure = error as Error;
    }
    if (!this.isClosed) handlers.ended(failure);
  }
}
