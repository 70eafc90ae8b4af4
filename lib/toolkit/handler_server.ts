// How does a function of this process become something that a node can call?
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import type { Ms } from "../base/units.ts";
import { secondMs } from "../base/units.ts";
import { listenForOperator } from "../gateway/door_listener.ts";
import type { Handler } from "./offer_options.ts";

/** Asked for by the node's own checks and answered here, so that a handler need not know of them. */
export const handlerHealthPath = "/.otela/alive";

/** Requests that still run when a node ends have lost their caller by then. A guess. */
const closeGraceMs: Ms = secondMs;

/** A function that is served on a socket. */
export type HandlerServer = {
  /** Absolute path of its Unix socket. */
  readonly socketPath: string;
  /** Takes nothing new; running requests have a second to end. */
  close(): Promise<void>;
};

/**
 * Serves a function on a Unix socket of mode 0600 beside the node's own: not on a port, since every user of a
 * machine may call its loopback ports. The node calls it as it calls any engine, so time limits, back-pressure
 * and aborts are the same, which a call within the process would have to imitate.
 * @param operatorSocket Socket of the node's operator door; its folder is private to this user.
 */
export async function serveHandler(
  handler: Handler,
  operatorSocket: string,
): Promise<HandlerServer> {
  // As long as the name of the operator's socket, which is known to be short enough for the kernel.
  const socketPath = join(dirname(operatorSocket), `${randomBytes(8).toString("hex")}.sock`);
  const answer = async (request: Request): Promise<Response> =>
    isAliveQuestion(request.url) ? new Response(null, { status: 204 }) : await handler(request);
  const listener = await listenForOperator(answer, socketPath);
  return {
    socketPath,
    close: async () => void await listener.close(closeGraceMs),
  };
}

function isAliveQuestion(url: string): boolean {
  return url.endsWith(handlerHealthPath) && new URL(url).pathname === handlerHealthPath;
}
