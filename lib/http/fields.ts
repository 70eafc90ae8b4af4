// What stands in the lines before and after a body?
import { Buffer } from "node:buffer";
import { httpToken } from "../base/header_list.ts";

export const lf = 0x0a;
export const cr = 0x0d;
const unreadable = /[\0\r]/;

/** Makes the error of a message that cannot be understood in one way alone. */
export type Fault = (why: string) => Error;

/** The fields that say where a body ends, and what follows it. @throws {Error} By `fault`. */
export function framingFields(headers: readonly string[], fault: Fault) {
  let connection = "";
  let coding: string | undefined;
  let length: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i];
    if (name === "content-length") {
      const value = headers[i + 1];
      if (length !== undefined && length !== value) throw fault("it has two lengths");
      length = value;
    } else if (name === "transfer-encoding") {
      const value = headers[i + 1].toLowerCase();
      coding = coding === undefined ? value : `${coding}, ${value}`;
    } else if (name === "connection") connection += `,${headers[i + 1].toLowerCase()}`;
  }
  return { connection, coding, length };
}

export function lists(connection: string, word: string): boolean {
  return connection !== "" && connection.split(",").some((listed) => listed.trim() === word);
}

/** @param lines Of a block, the last one empty. @param from First line to read. @throws {Error} By `fault`. */
export function fieldsOf(lines: readonly string[], from: number, fault: Fault): string[] {
  const fields: string[] = [];
  for (let i = from; i < lines.length; i++) {
    const line = withoutCr(lines[i]);
    if (line === "") continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    // Folded lines (obs-fold) and spaces before the colon end here too: RFC 9112 §5 wants them refused.
    if (!httpToken.test(name)) throw fault("it has a header without a name");
    const value = line.slice(colon + 1).trim();
    if (unreadable.test(value)) throw fault("it has a header that is not one line");
    fields.push(name.toLowerCase(), value);
  }
  return fields;
}

export function withoutCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/**
 * Behind the empty line that ends a block; -1 when it is not here yet. Lines may end with LF alone.
 * @param isStart Whether an empty line at `from` itself is that end: trailers that are none.
 */
export function endOfBlock(
  bytes: Uint8Array,
  from: number,
  to: number = bytes.length,
  isStart = true,
): number {
  if (isStart) {
    const first = emptyLineAt(bytes, from, to);
    if (first > 0) return first;
  }
  for (let at = from;;) {
    const line = bytes.indexOf(lf, at);
    if (line < 0 || line >= to) return -1;
    const end = emptyLineAt(bytes, line + 1, to);
    if (end > 0) return end;
    at = line + 1;
  }
}

function emptyLineAt(bytes: Uint8Array, at: number, to: number): number {
  if (at < to && bytes[at] === lf) return at + 1;
  return at + 1 < to && bytes[at] === cr && bytes[at + 1] === lf ? at + 2 : -1;
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
