// Does a request ask for another protocol, and which?
import { OtelaError } from "../base/errors.ts";
import type { RequestHead } from "./request_head.ts";

function tokens(list: string): readonly string[] {
  return list.toLowerCase().split(",").map((token) => token.trim()).filter((token) => token !== "");
}

/**
 * Says whether a WebSocket is asked for, and refuses every other upgrade at once (C026). Tokens are
 * compared without case and in lists (`Connection: keep-alive, Upgrade`); an `Upgrade` that
 * `Connection` does not name is a leftover of another hop and means nothing. An offer of cleartext
 * HTTP/2 (it always has `HTTP2-Settings`) is ignored, as RFC 7540 §3.2 allows: Java's client offers it
 * on each first request and would otherwise not work at all.
 * @throws {OtelaError} `upgrade_unsupported`, or `bad_request` for a broken WebSocket handshake.
 */
export function isSocketWanted(method: string, head: RequestHead): boolean {
  if (head.upgrade === "" || !tokens(head.connection).includes("upgrade")) return false;
  const wanted = tokens(head.upgrade);
  if (wanted.includes("websocket")) {
    requireHandshake(method, head);
    return true;
  }
  if (head.isH2cOffer && wanted.length === 1 && wanted[0] === "h2c") return false;
  throw new OtelaError(
    "upgrade_unsupported",
    `Cannot change the protocol as it must be WebSocket: got "${head.upgrade.slice(0, 80)}"`,
  );
}

function requireHandshake(method: string, { headers }: RequestHead): void {
  const valueOf = (name: string): string => {
    for (let index = 0; index < headers.length; index += 2) {
      if (headers[index] === name) return headers[index + 1];
    }
    return "";
  };
  const isWhole = method === "GET" && valueOf("sec-websocket-version") === "13" &&
    /^[A-Za-z0-9+/]{22}==$/.test(valueOf("sec-websocket-key"));
  if (isWhole) return;
  throw new OtelaError(
    "bad_request",
    "Cannot open a WebSocket as the handshake must be a GET of version 13 with a key of 16 bytes",
  );
}
