// How does each piece of an answer leave at once, on a Deno that lets the kernel wait for more?
import type { Ms } from "../base/units.ts";
import { secondMs } from "../base/units.ts";
import type { ClientDoor } from "./client_door.ts";

/** A server on TCP, as much of one as a door needs. */
export type TcpServer = Pick<Deno.HttpServer<Deno.NetAddr>, "addr" | "shutdown">;

/** Out of file descriptors, accepting fails at once and again: a moment later some may be free. */
const acceptAgainMs: Ms = secondMs / 10;

/** Serves one connection that was accepted; what `node:http` of Deno is built on. */
type ServeConnection = (
  connection: Deno.Conn,
  signal: AbortSignal,
  door: ClientDoor,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => Pick<Deno.HttpServer, "finished" | "shutdown">;

/**
 * Serves with Nagle's algorithm off. `Deno.serve` of 2.7.11 leaves it on, and then the second piece of a stream
 * waits until the client's kernel has acknowledged the first: 40 ms on each kept connection (measured; on
 * 2.9.6 it is off).
 * @returns `undefined` where Deno does not let us serve connections one by one.
 * @throws {Deno.errors.AddrInUse} And whatever else `Deno.listen` throws.
 */
export function servePromptly(
  door: ClientDoor,
  hostname: string,
  port: number,
): TcpServer | undefined {
  const serveConnection = findServeConnection();
  if (!serveConnection) return undefined;
  const listener = Deno.listen({ hostname, port });
  const open = new Set<ReturnType<ServeConnection>>();
  const { signal } = new AbortController(); // Never aborted: that would throw in Deno, see `DoorListener`.
  let isClosed = false;

  function serve(connection: Deno.TcpConn): void {
    connection.setNoDelay(true);
    const server = serveConnection!(connection, signal, door, failed, () => {});
    open.add(server);
    const over = () => open.delete(server);
    server.finished.then(over, over);
  }

  async function accept(): Promise<void> {
    while (!isClosed) {
      try {
        serve(await listener.accept());
      } catch {
        // It was closed, or the client has gone already, or descriptors are short.
        if (!isClosed) await new Promise((resolve) => setTimeout(resolve, acceptAgainMs));
      }
    }
  }

  void accept();
  return {
    addr: listener.addr as Deno.NetAddr,
    async shutdown(): Promise<void> {
      isClosed = true;
      listener.close();
      await Promise.all([...open].map((server) => server.shutdown()));
    },
  };
}

/** The door does not throw; this stands where Deno wants something for the case. */
function failed(): Response {
  return new Response(null, { status: 500 });
}

function findServeConnection(): ServeConnection | undefined {
  const deno = Deno as unknown as Record<symbol, { serveHttpOnConnection?: unknown } | undefined>;
  const { internal } = Deno as unknown as { internal?: symbol };
  const found = internal && deno[internal]?.serveHttpOnConnection;
  return typeof found === "function" ? found as ServeConnection : undefined;
}
