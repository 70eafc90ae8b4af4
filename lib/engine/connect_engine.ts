// How is a connection to an engine made?
import { isBefore29 } from "../base/deno_version.ts";
import { messageOf, OtelaError } from "../base/errors.ts";
import type { Ms } from "../base/units.ts";
import { DenoSocket } from "./deno_socket.ts";
import type { EngineSocket } from "./engine_socket.ts";

/** Where an engine is. */
export type EngineAddress = {
  /** `http://127.0.0.1:8000` or https. */
  readonly origin: string;
  /** A Unix socket instead; then `origin` only names the host. */
  readonly socketPath: string | null;
};

/** Deno 2.7.11 throws at what `node_socket.ts` does (checked). */
export const canReadPastStreams = !isBefore29(Deno.version.deno);

/** @throws {Error} When nobody answers there within the time. */
export function connectEngine(address: EngineAddress, timeoutMs: Ms): Promise<EngineSocket> {
  return new Promise<EngineSocket>((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new OtelaError("timed_out", `no connection within ${timeoutMs} ms`));
    }, timeoutMs);
    open(address, () => isLate).then((socket) => {
      clearTimeout(timer);
      if (isLate) socket.close();
      else resolve(socket);
    }, (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

async function open(
  { origin, socketPath }: EngineAddress,
  isLate: () => boolean,
): Promise<EngineSocket> {
  if (socketPath !== null) {
    return new DenoSocket(await Deno.connect({ transport: "unix", path: socketPath }));
  }
  const url = new URL(origin);
  const isSecure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const connectOne = isSecure ? secure(hostname) : plain;
  return await firstOf(await addressesOf(hostname), isLate, (address) => connectOne(address, port));
}

/** Connects to a numeric address. */
type ConnectOne = (address: string, port: number) => Promise<EngineSocket>;

async function plain(address: string, port: number): Promise<EngineSocket> {
  if (!canReadPastStreams) return new DenoSocket(await connectTcp(address, port));
  // Loaded with the first connection, for a head has none.
  const { NodeSocket } = await import("./node_socket.ts");
  return await NodeSocket.connect(address, port);
}

/** @param hostname Whose certificate it must be. */
function secure(hostname: string): ConnectOne {
  return async (address, port) => {
    const socket = await connectTcp(address, port);
    const secured = await Deno.startTls(socket, { hostname, alpnProtocols: ["http/1.1"] });
    try {
      // Otherwise with the first request, which then would seem to have been sent.
      await secured.handshake();
    } catch (error) {
      secured.close();
      throw error;
    }
    return new DenoSocket(secured);
  };
}

async function connectTcp(hostname: string, port: number): Promise<Deno.TcpConn> {
  const socket = await Deno.connect({ hostname, port });
  // Small messages leave at once; the engine's side decides about its own.
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  return socket;
}

/** A name's addresses in the system's order. @param hostname As `URL` writes it. @throws {Error} When it has none. */
async function addressesOf(hostname: string): Promise<readonly string[]> {
  if (/^[\d.]+$/.test(hostname) || hostname.includes(":")) return [hostname];
  // Loaded with the first name: most engines have a number.
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

/** One after the other: a name may have an address at which nobody listens. @throws {Error} The last failure. */
async function firstOf(
  addresses: readonly string[],
  isLate: () => boolean,
  connect: (address: string) => Promise<EngineSocket>,
): Promise<EngineSocket> {
  let failure: unknown = new Error("its name has no address");
  for (const address of addresses) {
    if (isLate()) break;
    try {
      return await connect(address);
    } catch (error) {
      failure = error;
    }
  }
  throw failure instanceof Error ? failure : new Error(messageOf(failure));
}
