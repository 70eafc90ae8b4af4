// What does a client of a broken engine see? A TCP server that sends exactly the bytes it is told.
import { type AddressInfo, createServer, Socket } from "node:net";

/** What happens on a connection after a request's head arrived, in turn. */
export type RawStep =
  /** Sends these bytes. */
  | { readonly send: string | Uint8Array<ArrayBuffer> }
  /** Lets so much time pass. */
  | { readonly waitMs: number }
  /** Says nothing more until the client goes away. */
  | "stall"
  /** Ends our side in order (FIN). */
  | "close"
  /** Breaks the connection (RST) once what was sent has left; only where {@link canReset}. */
  | "reset";

/** Whether this Deno can break a connection: 2.7.11 cannot, there every close is in order. */
export const canReset: boolean = "resetAndDestroy" in Socket.prototype;

/** A running fault engine. */
export type RawEngine = {
  readonly url: string;
  readonly port: number;
  /** What each connection has received, as text in Latin-1. */
  readonly received: readonly string[];
  /** Settles when a connection, counted from 0, has received a request's head. */
  headSeen(connection: number): Promise<void>;
  /** Settles when the client of a connection, counted from 0, went away. */
  clientGone(connection: number): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Plays one list of steps per connection; the last list serves all later ones. A connection whose list ends
 * without `stall`, `close` or `reset` waits for the next request and plays it again.
 */
export async function startRawEngine(...scripts: readonly RawStep[][]): Promise<RawEngine> {
  const received: string[] = [];
  const seen: PromiseWithResolvers<void>[] = [];
  const gone: PromiseWithResolvers<void>[] = [];
  const at = (list: PromiseWithResolvers<void>[], index: number) =>
    list[index] ??= Promise.withResolvers<void>();
  const open = new Set<Socket>();
  let connections = 0;

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const index = connections++;
    const script = scripts[Math.min(index, scripts.length - 1)];
    let answeredTo = 0;
    let isPlaying = false;
    received[index] = "";
    open.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {}); // A client that breaks off is what these tests are about.
    socket.on("end", () => at(gone, index).resolve());
    socket.on("close", () => {
      open.delete(socket);
      at(gone, index).resolve();
    });
    socket.on("data", async (bytes) => {
      received[index] += bytes.toString("latin1");
      if (isPlaying || !received[index].includes("\r\n\r\n", answeredTo)) return;
      isPlaying = true;
      at(seen, index).resolve();
      isPlaying = await play(socket, script);
      answeredTo = received[index].length;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    headSeen: (index) => at(seen, index).promise,
    clientGone: (index) => at(gone, index).promise,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** @returns Whether nothing more may be played on this connection. */
async function play(socket: Socket, script: readonly RawStep[]): Promise<boolean> {
  for (const step of script) {
    if (socket.destroyed || step === "stall") return true;
    if (step === "close") socket.end();
    else if (step === "reset") socket.resetAndDestroy();
    else if ("waitMs" in step) await new Promise((done) => setTimeout(done, step.waitMs));
    else await new Promise<void>((done) => socket.write(step.send, () => done()));
    if (step === "close" || step === "reset") return true;
  }
  return false;
}
