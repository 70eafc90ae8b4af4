// How do the doors come to listen, and how do they close?
import { messageOf, OtelaError } from "../base/errors.ts";
import type { Ms } from "../base/units.ts";
import { HttpServer } from "../server/http_server.ts";
import type { ClientDoor } from "./client_door.ts";

/** An open door. */
export type DoorListener = {
  /** `http://127.0.0.1:8092`, as it can be used on this host; `unix:PATH` for a socket. */
  readonly url: string;
  /** 0 for a socket. */
  readonly port: number;
  /**
   * Takes nothing new and waits for what runs; what still runs at the deadline ends with its exchanges or with
   * the process.
   * @returns Whether everything ended within `graceMs`.
   */
  close(graceMs: Ms): Promise<boolean>;
};

/** Where the client door should listen. */
export type ClientAddress = {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** A busy port that was asked for is an error; a busy default becomes any free one. */
  readonly isPortExplicit: boolean;
};

/**
 * Opens the client door over TCP.
 * @throws {OtelaError} `port_busy`; `config_invalid` when this machine has no such address.
 */
export function listenForClients(door: ClientDoor, address: ClientAddress): DoorListener {
  const { host, port, isPortExplicit } = address;
  let server: HttpServer;
  try {
    server = HttpServer.listen(host, port, door);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw unusable(address, error);
    if (isPortExplicit) throw busy(address);
    server = HttpServer.listen(host, 0, door);
  }
  return {
    url: `http://${reachable(host)}:${server.addr.port}`,
    port: server.addr.port,
    close: (graceMs) => closeWithin(server, graceMs),
  };
}

/**
 * Opens the operator door on a Unix socket of mode 0600.
 * @param path Prepared: nothing is there, and its directory is private to this user, which also covers
 * the moment before the mode is set.
 */
export async function listenForOperator(
  door: (request: Request) => Promise<Response>,
  path: string,
): Promise<DoorListener> {
  const server = Deno.serve({ path, onListen: () => {} }, door);
  await Deno.chmod(path, 0o600);
  return {
    url: `unix:${path}`,
    port: 0,
    async close(graceMs): Promise<boolean> {
      const isDone = await closeWithin(server, graceMs);
      // Gone already where the runtime removes it by itself.
      await Deno.remove(path).catch(() => {});
      return isDone;
    },
  };
}

/** Addresses that mean all interfaces are reached by loopback; IPv6 stands in brackets. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function busy({ host, port }: ClientAddress): OtelaError {
  return new OtelaError(
    "port_busy",
    `Cannot open the client door as port ${port} of ${host} must be free: another program has it`,
    { fields: { port } },
  );
}

function unusable({ host, port }: ClientAddress, error: unknown): OtelaError {
  return new OtelaError(
    "config_invalid",
    `Cannot open the client door at ${host}, port ${port}: ${messageOf(error)}`,
    { cause: error },
  );
}

async function closeWithin(server: { shutdown(): Promise<void> }, graceMs: Ms): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), graceMs);
  try {
    return await Promise.race([server.shutdown().then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
