// How does a request look on an engine's connection?
import { OtelaError } from "../base/errors.ts";
import { httpToken } from "../base/header_list.ts";
import type { Bytes } from "../base/units.ts";

/** What is asked of an engine, without its body. */
export type EngineRequestHead = {
  readonly method: string;
  /** Raw path and query, beginning with `/`. */
  readonly path: string;
  /** Names and values in turn, bytes as Latin-1. A `host` stands in the place of the engine's own. */
  readonly headers: readonly string[];
  /** Length of the body, -1 when unknown. */
  readonly bodyBytes: Bytes | -1;
};

/** How the body is told from what follows it (RFC 9112 §6). */
export type RequestFraming = "none" | "length" | "chunked";

/** Visible characters, Latin-1 included. */
const target = /^[/*][\x21-\x7e\x80-\xff]*$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What we say ourselves: in another's words it could end a request where the engine sees another begin. */
const ownFields = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Methods for which an engine expects to be told a length of zero (RFC 9110 §8.6). */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);

export function framingOf({ method, bodyBytes }: EngineRequestHead): RequestFraming {
  if (bodyBytes < 0) return "chunked";
  return bodyBytes > 0 || methodsWithBody.has(method) ? "length" : "none";
}

/**
 * A request's head as text in Latin-1, its empty line included.
 * @param host For the `host` field, when the headers have none.
 * @throws {OtelaError} `bad_request` when a part could not be told from what stands around it.
 */
export function encodeRequestHead(head: EngineRequestHead, host: string): string {
  const { method, path, headers } = head;
  if (!httpToken.test(method)) throw unsendable("its method must be one word");
  if (!target.test(path)) throw unsendable("its path must begin with / and hold no space");
  let fields = "";
  let named = host;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    // A peer may write it otherwise, and engines do not care.
    const name = headers[i].toLowerCase();
    const value = headers[i + 1];
    if (!httpToken.test(name)) throw unsendable("the name of a header must be one word");
    if (!fieldValue.test(value)) throw unsendable(`the header "${name}" must be one line`);
    if (ownFields.has(name)) throw unsendable(`the header "${name}" must not be set`);
    if (name === "host") named = value;
    else fields += `${name}: ${value}\r\n`;
  }
  const framing = framingOf(head);
  if (framing === "length") fields += `content-length: ${head.bodyBytes}\r\n`;
  else if (framing === "chunked") fields += "transfer-encoding: chunked\r\n";
  return `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\n${fields}\r\n`;
}

function unsendable(why: string): OtelaError {
  return new OtelaError("bad_request", `Cannot send a request to an engine as ${why}`);
}
