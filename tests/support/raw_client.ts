// How does a test do to a server what no client library would?
import { Buffer } from "node:buffer";
import type { Ms } from "../../lib/base/units.ts";
import { within } from "./within.ts";

const deadlineMs: Ms = 10_000;

/** One answer, its texts in Latin-1. */
export type WireAnswer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Of a body in pieces, each as it was sent; the last one is empty. */
  readonly pieces?: readonly string[];
};

/** A connection whose bytes the test decides, and of which it reads as much as it wants. */
export class RawClient {
  private held = "";
  private isClosed = false;

  private constructor(readonly connection: Deno.TcpConn) {}

  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** @param what Text as Latin-1. Settles when the system has taken all of it. */
  async send(what: string | Uint8Array): Promise<void> {
    const bytes = typeof what === "string"
      ? Uint8Array.from(what, (char) => char.charCodeAt(0))
      : what;
    for (let at = 0; at < bytes.length;) {
      at += await this.connection.write(bytes.subarray(at));
    }
  }

  /** One answer to its end. @param method Of the request. */
  async answer(method = "GET"): Promise<WireAnswer> {
    const [first, ...lines] = (await this.until("\r\n\r\n")).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    const headers = new Map(lines.map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    }));
    if (method === "HEAD" || status < 200 || status === 204 || status === 304) {
      return { status, headers, body: "" };
    }
    const length = headers.get("content-length");
    if (length !== undefined) return { status, headers, body: await this.take(Number(length)) };
    if (headers.get("transfer-encoding") === undefined) {
      return { status, headers, body: await this.rest() };
    }
    const pieces: string[] = [];
    for (;;) {
      const size = parseInt(await this.until("\r\n"), 16);
      pieces.push(await this.take(size));
      await this.until("\r\n");
      if (size === 0) return { status, headers, body: pieces.join(""), pieces };
    }
  }

  /** What comes before a mark; the mark is taken too. */
  async until(mark: string): Promise<string> {
    let from = 0;
    for (;;) {
      const at = this.held.indexOf(mark, from);
      if (at >= 0) {
        const text = this.held.slice(0, at);
        this.held = this.held.slice(at + mark.length);
        return text;
      }
      from = Math.max(0, this.held.length - mark.length);
      if (!await this.more()) throw new Error(`The connection ended before ${mark}: ${this.held}`);
    }
  }

  async take(count: number): Promise<string> {
    while (this.held.length < count) {
      if (!await this.more()) {
        throw new Error(`The connection ended ${count - this.held.length} early`);
      }
    }
    const text = this.held.slice(0, count);
    this.held = this.held.slice(count);
    return text;
  }

  /** Everything until the server ends the connection. @throws {Error} When it breaks it. */
  async rest(): Promise<string> {
    while (await this.more());
    const text = this.held;
    this.held = "";
    return text;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private async more(): Promise<boolean> {
    const buffer = new Uint8Array(65_536);
    const count = await within(deadlineMs, this.connection.read(buffer));
    if (count === null) return false;
    this.held += latin1Text(buffer.subarray(0, count));
    return true;
  }
}

const windows1252 = new TextDecoder("latin1");

/** `Buffer` alone is right too, but on Deno 2.7.11 it takes 50 times as long for 64 KiB. */
function latin1Text(bytes: Uint8Array): string {
  const text = windows1252.decode(bytes);
  // What the web calls latin1 has other characters for some bytes from 0x80 to 0x9f, all above 0xff.
  return /[^\0-\xff]/.test(text) ? Buffer.from(bytes).toString("latin1") : text;
}
