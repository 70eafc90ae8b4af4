// How do inbound TCP connections become libp2p connections?
import {
  type ComponentLogger,
  type Listener,
  type ListenerEvents,
  TypedEventEmitter,
  type Upgrader,
} from "@libp2p/interface";
import { getThinWaistAddresses } from "@libp2p/utils";
import type { Multiaddr } from "@multiformats/multiaddr";
import type { Ms } from "../base/units.ts";
import { DenoTcpConnection } from "./deno_tcp_connection.ts";
import { tcpEndpoint, tcpMultiaddr } from "./tcp_address.ts";
import type { WriteBuffers } from "./write_buffers.ts";

/** Pause after a failed accept, as when the process is out of file descriptors. */
const acceptRetryMs: Ms = 100;

/** Open connections have this long to send what they hold when their listener closes. */
const closeAfterMs: Ms = 500;

export type DenoTcpListenerParts = {
  readonly upgrader: Upgrader;
  readonly logger: ComponentLogger;
  readonly writeBuffers: WriteBuffers;
};

/** Accepts on one address until closed; closing it closes the connections it accepted. */
export class DenoTcpListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly #parts: DenoTcpListenerParts;
  readonly #connections = new Set<DenoTcpConnection>();
  readonly #closing = new AbortController();
  #socket: Deno.TcpListener | undefined;
  #address: Multiaddr | undefined;

  constructor(parts: DenoTcpListenerParts) {
    super();
    this.#parts = parts;
  }

  // deno-lint-ignore require-await -- The interface asks for a promise, errors must be rejections.
  async listen(address: Multiaddr): Promise<void> {
    this.#socket = Deno.listen(tcpEndpoint(address));
    this.#address = address;
    this.#acceptAll(this.#socket);
    this.safeDispatchEvent("listening");
  }

  /** The bound addresses; `0.0.0.0` and `::` as one address per interface. */
  getAddrs(): Multiaddr[] {
    if (!this.#socket) return [];
    return getThinWaistAddresses(this.#address, (this.#socket.addr as Deno.NetAddr).port);
  }

  updateAnnounceAddrs(): void {}

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new Error("The listener is closing"));
    this.#socket?.close();
    const signal = AbortSignal.timeout(closeAfterMs);
    const closed = [...this.#connections].map((connection) =>
      connection.close({ signal }).catch((error) => connection.abort(error))
    );
    await Promise.all(closed);
    this.#socket = undefined;
    this.safeDispatchEvent("close");
  }

  async #acceptAll(socket: Deno.TcpListener): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        this.#take(await socket.accept());
      } catch {
        if (this.#closing.signal.aborted) return;
        await new Promise((resolve) => setTimeout(resolve, acceptRetryMs));
      }
    }
  }

  #take(socket: Deno.TcpConn): void {
    const connection = new DenoTcpConnection({
      socket,
      writeBuffers: this.#parts.writeBuffers,
      direction: "inbound",
      remoteAddr: tcpMultiaddr(socket.remoteAddr as Deno.NetAddr),
      localAddr: tcpMultiaddr(socket.localAddr as Deno.NetAddr),
      log: this.#parts.logger.forComponent("otela:tcp:inbound"),
    });
    this.#connections.add(connection);
    connection.addEventListener("close", () => this.#connections.delete(connection));
    this.#parts.upgrader.upgradeInbound(connection, { signal: this.#closing.signal })
      .catch((error) => connection.abort(error));
  }
}
