// How does libp2p speak TCP on Deno?
import {
  type ComponentLogger,
  type Connection,
  type CreateListenerOptions,
  type DialTransportOptions,
  type Listener,
  serviceCapabilities,
  type Transport,
  transportSymbol,
} from "@libp2p/interface";
import type { Multiaddr } from "@multiformats/multiaddr";
import { ByteSlab } from "../base/byte_slab.ts";
import { DenoTcpConnection } from "./deno_tcp_connection.ts";
import { DenoTcpListener } from "./deno_tcp_listener.ts";
import { isTcpAddress, type TcpEndpoint, tcpEndpoint } from "./tcp_address.ts";
import { WriteBuffers } from "./write_buffers.ts";

/** What the transport takes from libp2p. */
export type DenoTcpComponents = { readonly logger: ComponentLogger };

/**
 * libp2p's TCP transport on `Deno.connect` and `Deno.listen`. The one on `node:net` would be slower, and on
 * Deno 2.7 cannot switch off Nagle's delay.
 * Dials and listens on `/ip4`, `/ip6`, `/dns4`, `/dns6` and `/dns` with `/tcp`; names are resolved by Deno.
 */
export class DenoTcp implements Transport {
  readonly [transportSymbol] = true;
  readonly [serviceCapabilities]: string[] = ["@libp2p/transport"];
  readonly [Symbol.toStringTag] = "deno-tcp";
  readonly #logger: ComponentLogger;
  readonly #writeBuffers = new WriteBuffers();
  readonly #readSlab = new ByteSlab();

  constructor({ logger }: DenoTcpComponents) {
    this.#logger = logger;
  }

  /** @throws The signal's reason when it aborts first; else what the network or the upgrade says. */
  async dial(address: Multiaddr, options: DialTransportOptions): Promise<Connection> {
    const connection = new DenoTcpConnection({
      socket: await connectTcp(tcpEndpoint(address), options.signal),
      writeBuffers: this.#writeBuffers,
      readSlab: this.#readSlab,
      direction: "outbound",
      remoteAddr: address,
      log: this.#logger.forComponent("otela:tcp:outbound"),
    });
    try {
      return await options.upgrader.upgradeOutbound(connection, options);
    } catch (error) {
      connection.abort(error as Error);
      throw error;
    }
  }

  createListener({ upgrader }: CreateListenerOptions): Listener {
    return new DenoTcpListener({
      upgrader,
      logger: this.#logger,
      writeBuffers: this.#writeBuffers,
      readSlab: this.#readSlab,
    });
  }

  listenFilter(addresses: Multiaddr[]): Multiaddr[] {
    return addresses.filter(isTcpAddress);
  }

  dialFilter(addresses: Multiaddr[]): Multiaddr[] {
    return this.listenFilter(addresses);
  }
}

/**
 * A connected socket. Deno gets a signal of its own, so that nothing stays attached to the caller's, which may live
 * for weeks, and so that an abort after the connect does not close the socket behind our back.
 */
async function connectTcp(endpoint: TcpEndpoint, signal: AbortSignal): Promise<Deno.TcpConn> {
  signal.throwIfAborted();
  const connecting = new AbortController();
  const abort = () => connecting.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    const socket = await Deno.connect({ ...endpoint, signal: connecting.signal });
    if (!signal.aborted) return socket;
    socket.close();
    throw signal.reason;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
