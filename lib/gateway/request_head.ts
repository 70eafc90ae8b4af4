// Which headers of a request does the client door itself read?
import type { HeaderList } from "../exchange/types.ts";
import type { ServerRequest } from "../server/types.ts";

/** The headers that the door decides by, taken in one walk over all of them. Empty text when absent. */
export type RequestHead = {
  /** All but `x-api-key`. */
  readonly headers: HeaderList;
  readonly authorization: string;
  readonly apiKey: string;
  readonly origin: string;
  readonly requestId: string;
  /** `access-control-request-method`: only a browser's preflight has it. */
  readonly preflightMethod: string;
  readonly upgrade: string;
  readonly connection: string;
  readonly isH2cOffer: boolean;
  /** Why the request must be refused unread; empty when it is sound. */
  readonly fault: string;
};

/** A host may hold a port and an IPv6 address, and nothing that could move the start of the path. */
const hostShape = /^[A-Za-z0-9._~:[\]%-]*$/;

/**
 * Reads what the door needs, and finds a host that would move the start of the path (C019). Where the request ends,
 * the server's reader has decided before (`lib/http/request_reader.ts`).
 */
export function readRequestHead(source: ServerRequest["headers"]): RequestHead {
  const headers: HeaderList = [];
  let authorization = "", apiKey = "", origin = "", requestId = "", preflightMethod = "";
  let upgrade = "", connection = "", isH2cOffer = false, fault = "";
  source.forEach((value, name) => {
    // Our own key in another dress: no engine and no worker may see it.
    if (name === "x-api-key") return void (apiKey = value);
    headers.push(name, value);
    switch (name) {
      case "authorization":
        return void (authorization = value);
      case "origin":
        return void (origin = value);
      case "x-request-id":
        return void (requestId = value);
      case "x-otela-request-id":
        return void (requestId ||= value);
      case "access-control-request-method":
        return void (preflightMethod = value);
      case "upgrade":
        return void (upgrade = value);
      case "connection":
        return void (connection = value);
      case "http2-settings":
        return void (isH2cOffer = true);
      case "host":
        if (!hostShape.test(value)) fault = "its host must name a host and nothing else";
        return;
    }
  });
  return {
    headers,
    authorization,
    apiKey,
    origin,
    requestId,
    preflightMethod,
    upgrade,
    connection,
    isH2cOffer,
    fault,
  };
}
