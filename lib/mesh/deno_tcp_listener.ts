// How do inbound TCP connections become libp2p connections?
import {
  type ComponentLogger,
  type Listener,
  type ListenerEvents,
  TypedEventEmitter,
  type Upgrader,
} from "@libp2p/interface";
import { getThinWaistAddresses } from "@libp2p/utils";
import { type Multiaddr, multiaddr } from "@multiformats/multiaddr";
import type { ByteSlab } from "../base/byte_slab.ts";
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
  readonly readSlab: ByteSlab;
};

/** Accepts on one address until closed; closing it closes the connections it accepted. */
export class DenoTcpListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly #parts: DenoTcpListenerParts;
  readonly #connections = new Set<DenoTcpConnection>();
  readonly #closing = new AbortController();
  #socket: Deno.TcpListener | undefined;
  #accepting: Promise<void> | undefined;
  #addresses: readonly Multiaddr[] = [];

  constructor(parts: DenoTcpListenerParts) {
    super();
    this.#parts = parts;
  }

  // deno-lint-ignore require-await -- The interface asks for a promise, errors must be rejections.
  async listen(address: Multiaddr): Promise<void> {
    const bound = bind(address);
    this.#socket = bound.socket;
    this.#addresses = bound.addresses;
    this.#accepting = this.#acceptAll(this.#socket);
    this.safeDispatchEvent("listening");
  }

  /** The bound addresses; `0.0.0.0` and `::` as one address per interface. */
  getAddrs(): Multiaddr[] {
    if (!this.#socket) return [];
    const { port } = this.#socket.addr as Deno.NetAddr;
    return this.#addresses.flatMap((address) => getThinWaistAddresses(address, port));
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
    // The kernel frees the port once the last accept has ended: a restart on it comes right after this.
    await Promise.all([...closed, this.#accepting]);
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
      readSlab: this.#parts.readSlab,
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

/** A socket on `::` takes IPv4 too; where the system has no IPv6, `0.0.0.0` is bound in its place. */
function bind(address: Multiaddr): { socket: Deno.TcpListener; addresses: Multiaddr[] } {
  const endpoint = tcpEndpoint(address);
  if (endpoint.hostname !== "::") return { socket: Deno.listen(endpoint), addresses: [address] };
  const any4 = multiaddr(`/ip4/0.0.0.0/tcp/${endpoint.port}`);
  try {
    return { socket: Deno.listen(endpoint), addresses: [any4, address] };
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) throw error;
    return { socket: Deno.listen(tcpEndpoint(any4)), addresses: [any4] };
  }
}
