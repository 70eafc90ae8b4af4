// What does a client of a broken engine see? A TCP server that sends exactly the bytes it is told.

/** What happens on a connection after the request's head arrived, in turn. */
export type RawStep =
  /** Sends these bytes. */
  | { readonly send: string | Uint8Array<ArrayBuffer> }
  /** Lets so much time pass. */
  | { readonly waitMs: number }
  /** Waits for the client to go away or close its side. */
  | "stall"
  /** Ends our side in order (FIN) and closes. */
  | "close"
  /** Breaks the connection with RST. */
  | "reset";

/** A running fault engine. */
export type RawEngine = {
  readonly url: string;
  readonly port: number;
  /** The bytes that each connection has received, as text in Latin-1. */
  readonly received: string[];
  /** Settles when the client of a connection, counted from 0, went away during `stall`. */
  clientGone(connection: number): Promise<void>;
  stop(): Promise<void>;
};

const latin1 = new TextDecoder("latin1");
const encoder = new TextEncoder();

/**
 * Plays one list of steps per connection; the last list serves all later ones. A connection that has played
 * its steps without `close` waits for the next request and plays them again (keep-alive).
 */
export function startRawEngine(...scripts: readonly RawStep[][]): RawEngine {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const received: string[] = [];
  const gone: PromiseWithResolvers<void>[] = [];
  const goneOf = (index: number) => gone[index] ??= Promise.withResolvers<void>();
  const open = new Set<Deno.TcpConn>();
  const running = accept();

  async function accept(): Promise<void> {
    const plays: Promise<void>[] = [];
    let index = 0;
    for await (const connection of listener) {
      open.add(connection);
      const script = scripts[Math.min(index, scripts.length - 1)];
      plays.push(
        play(connection, script, index++).catch(() => {}).finally(() => {
          open.delete(connection);
          closeQuietly(connection);
        }),
      );
    }
    await Promise.all(plays);
  }

  async function play(connection: Deno.TcpConn, script: RawStep[], index: number): Promise<void> {
    // The kernel answers with RST when a socket is closed while bytes are unread, so one is left: the last of
    // the head. Deno has no other way to ask for it.
    const isReset = script.includes("reset");
    const buffer = new Uint8Array(isReset ? 1 : 65_536);
    const headEnd = isReset ? "\r\n\r" : "\r\n\r\n";
    received[index] = "";
    const read = async (): Promise<boolean> => {
      const length = await connection.read(buffer).catch(() => null);
      if (length === null) goneOf(index).resolve();
      else received[index] += latin1.decode(buffer.subarray(0, length));
      return length !== null;
    };
    let answeredTo = 0;
    while (true) {
      while (!received[index].includes(headEnd, answeredTo)) if (!(await read())) return;
      answeredTo = received[index].length;
      for (const step of script) {
        if (step === "close" || step === "reset") return;
        if (step === "stall") {
          while (await read());
          return;
        }
        if ("waitMs" in step) await new Promise((done) => setTimeout(done, step.waitMs));
        else await writeAll(connection, step.send);
      }
    }
  }

  const { port } = listener.addr as Deno.NetAddr;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    clientGone: (index) => goneOf(index).promise,
    stop: async () => {
      listener.close();
      for (const connection of open) closeQuietly(connection);
      await running;
    },
  };
}

async function writeAll(connection: Deno.TcpConn, data: string | Uint8Array): Promise<void> {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  for (let sent = 0; sent < bytes.byteLength;) sent += await connection.write(bytes.subarray(sent));
}

function closeQuietly(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // The play or the other side closed it before.
  }
}
