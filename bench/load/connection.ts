// How does the load reach a target?
import type { RequestTarget } from "./request.ts";

/** Opens a connection that sends small writes at once. */
export async function connect(target: RequestTarget): Promise<Deno.TcpConn> {
  const connection = await Deno.connect(target);
  connection.setNoDelay(true);
  return connection;
}

/** Closes a connection, also one that a watchdog has closed before. */
export function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // Closed before.
  }
}
