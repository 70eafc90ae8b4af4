// How is a connection used once it is HTTP no more?
import type { RequestHead } from "../http/request_reader.ts";
import type { RawReader, RawSide, SocketAnswer } from "./socket_answer.ts";

/** What it needs of the connection that it was. */
export type RawPorts = {
  readonly connection: Pick<Deno.TcpConn, "write" | "closeWrite">;
  /** What made reading wait is over. */
  goOn(): void;
  close(): void;
};

/** The bytes of a WebSocket, both ways. */
export class RawConnection implements RawSide {
  /** Whether nothing more should be read for now. */
  isPaused = false;
  private reader: RawReader | undefined;

  private constructor(private readonly ports: RawPorts) {}

  /**
   * Does the server's part of the handshake.
   * @param isGone Whether the client has left meanwhile.
   * @returns `undefined` when it has.
   */
  static async open(
    head: RequestHead,
    answer: SocketAnswer,
    ports: RawPorts,
    isGone: () => boolean,
  ): Promise<RawConnection | undefined> {
    // Loaded with the first one: most nodes never see a WebSocket.
    const { openClientSocket } = await import("./client_socket.ts");
    if (isGone()) return void answer.lost();
    const raw = new RawConnection(ports);
    raw.reader = openClientSocket(head, answer, raw);
    return raw;
  }

  /** @param chunk Valid until the call returns. */
  bytes(chunk: Uint8Array): void {
    if (!this.reader!.bytes(chunk)) this.isPaused = true;
  }

  ended(): void {
    this.reader?.ended();
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.ports.connection.write(bytes.subarray(at));
    }
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.ports.goOn();
  }

  async finish(): Promise<void> {
    await this.ports.connection.closeWrite();
  }

  close(): void {
    this.ports.close();
  }
}
