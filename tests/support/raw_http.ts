// How does a test speak HTTP/1.1 byte for byte?
import { within } from "./within.ts";

/** One answer, unparsed where it matters. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly body: string;
  /** The answer to the second request on the same connection. */
  readonly next?: RawAnswer;
};

const deadlineMs = 5_000;

/**
 * Sends requests one after the other on one connection.
 * @param base `http://127.0.0.1:PORT`.
 * @param requests Complete, with their line ends.
 */
export async function exchangeRaw(base: string, ...requests: string[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(base);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const reader = new AnswerReader(connection);
  const answers: RawAnswer[] = [];
  for (const request of requests) {
    await connection.write(new TextEncoder().encode(request));
    const method = request.slice(0, request.indexOf(" "));
    answers.push(await within(deadlineMs, reader.read(method)));
  }
  return answers.reduceRight((next, answer) => ({ ...answer, next }));
}

class AnswerReader {
  private held = new Uint8Array(0);

  constructor(private readonly connection: Deno.Conn) {}

  async read(method: string): Promise<RawAnswer> {
    const head = await this.until("\r\n\r\n");
    const [first, ...lines] = head.split("\r\n").filter(Boolean);
    const status = Number(first.split(" ")[1]);
    const headers = new Headers(
      lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
    );
    const bytes = await this.bodyOf(method, status, headers);
    return { status, headers, bytes, body: new TextDecoder().decode(bytes) };
  }

  private async bodyOf(method: string, status: number, headers: Headers): Promise<Uint8Array> {
    if (method === "HEAD" || status === 204 || status === 304) return new Uint8Array(0);
    const length = headers.get("content-length");
    if (length !== null) return await this.take(Number(length));
    if (headers.get("transfer-encoding") !== "chunked") return new Uint8Array(0);
    const pieces: number[] = [];
    for (;;) {
      const size = parseInt(await this.until("\r\n"), 16);
      pieces.push(...await this.take(size));
      await this.until("\r\n");
      if (size === 0) return Uint8Array.from(pieces);
    }
  }

  private async until(mark: string): Promise<string> {
    for (;;) {
      const text = new TextDecoder("latin1").decode(this.held);
      const at = text.indexOf(mark);
      if (at >= 0) {
        this.held = this.held.slice(at + mark.length);
        return text.slice(0, at);
      }
      await this.more();
    }
  }

  private async take(count: number): Promise<Uint8Array> {
    while (this.held.length < count) await this.more();
    const taken = this.held.slice(0, count);
    this.held = this.held.slice(count);
    return taken;
  }

  private async more(): Promise<void> {
    const buffer = new Uint8Array(65_536);
    const count = await this.connection.read(buffer);
    if (count === null) throw new Error("The connection ended in the middle of an answer");
    const both = new Uint8Array(this.held.length + count);
    both.set(this.held);
    both.set(buffer.subarray(0, count), this.held.length);
    this.held = both;
  }
}
