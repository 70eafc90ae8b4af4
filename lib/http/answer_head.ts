// How does an answer's head look on a client's connection?
import { httpToken } from "../base/header_list.ts";
import type { Bytes } from "../base/units.ts";

/** How a client knows where the body ends (RFC 9112 §6). */
export type AnswerFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: Bytes }
  | { readonly kind: "chunked" }
  /** For HTTP/1.0: it ends with the connection. */
  | { readonly kind: "close" };

/** What the connection says itself: in an engine's words it could end an answer where the client sees another begin. */
const ownFields = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether HTTP has a form for a header; what it has none for could begin a head of its own. */
export function isSendable(name: string, value: string): boolean {
  return httpToken.test(name) && fieldValue.test(value);
}

/** The parts of a head. */
export type AnswerHead = {
  readonly status: number;
  /** Names in lower case and values in turn, each sendable. */
  readonly headers: readonly string[];
  readonly framing: AnswerFraming;
  /** How long the body of a `HEAD` or a 304 would be, when its maker said so. */
  readonly announced?: string;
  readonly connection: "" | "close" | "keep-alive";
  /** As `Date.toUTCString` writes it. */
  readonly date: string;
};

/** A head as text in Latin-1, its empty line included. */
export function encodeAnswerHead(head: AnswerHead): string {
  const { status, headers, framing, announced, connection, date } = head;
  let text = `HTTP/1.1 ${status} ${reasons[status] ?? ""}\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at];
    if (!ownFields.has(name)) text += `${name}: ${headers[at + 1]}\r\n`;
  }
  if (framing.kind === "length") text += `content-length: ${framing.bytes}\r\n`;
  else if (framing.kind === "chunked") text += "transfer-encoding: chunked\r\n";
  else if (framing.kind === "none" && announced !== undefined) {
    text += `content-length: ${announced}\r\n`;
  }
  if (connection !== "") text += `connection: ${connection}\r\n`;
  return `${text}date: ${date}\r\n\r\n`;
}

/** RFC 9110 §15; people read them in `curl -i`, programs must not. */
const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
