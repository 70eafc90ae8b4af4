// How many bytes go through the sockets of this process?

/** Bytes of connections with a port at either end, and of all others. */
export type SocketBytes = { sent: number; received: number };

/**
 * Counts what TCP sockets of Deno take and give, as `read` and `write` return it, until it is disposed of: what an
 * operator would see at the socket, without the headers of IP and TCP.
 */
export class SocketCounter implements Disposable {
  readonly #byPort = new Map<number, SocketBytes>();
  readonly #restore: () => void;

  /** @param sample Any socket: the others have its prototype. */
  constructor(sample: Deno.TcpConn) {
    const prototype = Object.getPrototypeOf(sample) as Deno.TcpConn;
    const { read, write } = prototype;
    const count = (conn: Deno.TcpConn, key: keyof SocketBytes, bytes: number) => {
      for (const address of [conn.localAddr, conn.remoteAddr]) {
        const port = (address as Deno.NetAddr).port;
        let entry = this.#byPort.get(port);
        if (!entry) this.#byPort.set(port, entry = { sent: 0, received: 0 });
        entry[key] += bytes;
      }
    };
    prototype.read = async function (this: Deno.TcpConn, buffer: Uint8Array) {
      const got = await read.call(this, buffer);
      if (got !== null) count(this, "received", got);
      return got;
    };
    prototype.write = async function (this: Deno.TcpConn, bytes: Uint8Array) {
      const sent = await write.call(this, bytes);
      count(this, "sent", sent);
      return sent;
    };
    this.#restore = () => Object.assign(prototype, { read, write });
  }

  [Symbol.dispose](): void {
    this.#restore();
  }

  /** Bytes of every connection in which this process has one end with the port. Both ends count when both are here. */
  ofPort(port: number): number {
    const { sent, received } = this.#byPort.get(port) ?? { sent: 0, received: 0 };
    return sent + received;
  }

  /** Everything that was sent and received; each connection is counted under both of its ports. */
  total(): number {
    let sum = 0;
    for (const { sent, received } of this.#byPort.values()) sum += sent + received;
    return sum / 2;
  }

  reset(): void {
    this.#byPort.clear();
  }
}

/** A socket of this process, connected to itself and closed at once. */
export async function sampleSocket(): Promise<Deno.TcpConn> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const [conn, accepted] = await Promise.all([
    Deno.connect({ hostname: "127.0.0.1", port }),
    listener.accept(),
  ]);
  conn.close();
  accepted.close();
  return conn;
}
