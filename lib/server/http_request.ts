// How does a handler read a request, and its body as it arrives?
import { ByteSlab } from "../base/byte_slab.ts";
import { concatBytes } from "../base/concat_bytes.ts";
import { type Bytes, KiB, MiB } from "../base/units.ts";
import type { RequestHead } from "../http/request_reader.ts";
import type { BodyStream } from "./pushed_body.ts";
import type { ServerRequest } from "./types.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** Of a body that nobody reads; the connection waits beyond it. A guess. */
const heldBytesMax: Bytes = 256 * KiB;

/** What is left of a body that nobody wants is read so far, so that its connection can be used again. A guess. */
const unwantedBytesMax: Bytes = MiB;

const slab = new ByteSlab();

/** What a request asks of its connection. */
export type RequestFlow = {
  /** The client waits to be asked for its body. */
  askForBody(): void;
  /** There may be room again. */
  bodyTaken(): void;
};

/** The headers of a request, as handlers walk over them. */
class RequestFields {
  constructor(private readonly list: readonly string[]) {}

  forEach(visit: (value: string, name: string) => void): void {
    for (let at = 0; at < this.list.length; at += 2) visit(this.list[at + 1], this.list[at]);
  }
}

/** One request of a connection. */
export class HttpRequest implements ServerRequest {
  readonly headers: ServerRequest["headers"];
  readonly url: string;
  /** A handler has it. */
  hasStarted = false;
  /** Its answer's head is on its way: nothing else may be said before the answer's end. */
  hasBegun = false;
  /** All of its answer is on its way. */
  isAnswered = false;
  /** Its body is complete. */
  isWhole = false;
  /** The client waits to be asked for its body. */
  isUnasked: boolean;
  private pieces: Chunk[] = [];
  private heldBytes: Bytes = 0;
  private failure: Error | undefined;
  /** Told of everything that comes. */
  private wake: (() => void) | undefined;
  /** Somebody reads to the end without letting go of anything: the announced length bounds it. */
  private isCollected = false;
  private isUnwanted = false;
  private unwantedBytes: Bytes = 0;
  private stream: BodyStream | undefined;
  private aborter: AbortController | undefined;
  private isGone = false;

  constructor(readonly head: RequestHead, private readonly flow: RequestFlow) {
    this.headers = new RequestFields(head.headers);
    this.url = urlOf(head);
    this.isUnasked = head.isAsking;
  }

  get method(): string {
    return this.head.method;
  }

  get signal(): AbortSignal {
    if (!this.aborter) {
      this.aborter = new AbortController();
      if (this.isGone) this.aborter.abort();
    }
    return this.aborter.signal;
  }

  get body(): BodyStream | null {
    if (this.head.bodyBytes === 0) return null;
    return this.stream ??= new ReadableStream<Chunk>({
      pull: async (controller) => {
        const piece = await this.next();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      cancel: () => this.discard(),
    }, { highWaterMark: 0 });
  }

  async bytes(): Promise<Chunk> {
    this.isCollected = true;
    while (!this.isWhole) await this.more();
    if (this.failure) throw this.failure;
    const { pieces } = this;
    this.pieces = [];
    return pieces.length === 1 ? pieces[0] : concatBytes(pieces);
  }

  // The connection's side.

  /** Whether the connection should read no further for now. */
  get isFull(): boolean {
    return this.heldBytes > heldBytesMax && !this.isCollected && !this.isUnwanted;
  }

  /** Whether more of a body comes that nobody wants than is worth reading. */
  get isTooLong(): boolean {
    return this.unwantedBytes > unwantedBytesMax;
  }

  /** @param chunk Copied. */
  push(chunk: Uint8Array): void {
    this.isUnasked = false;
    if (this.isUnwanted) {
      this.unwantedBytes += chunk.length;
      return;
    }
    this.pieces.push(slab.copy(chunk));
    this.heldBytes += chunk.length;
    this.wake?.();
  }

  /** The body is whole. */
  end(): void {
    this.isWhole = true;
    this.wake?.();
  }

  /** The body breaks off. */
  fail(error: Error): void {
    if (this.isWhole) return;
    this.failure ??= error;
    this.wake?.();
  }

  /** The client has left. */
  gone(): void {
    this.isGone = true;
    this.fail(new Error("the client left before its request was whole"));
    this.aborter?.abort();
  }

  /** Nobody reads what comes of the body. */
  discard(): void {
    this.isUnwanted = true;
    this.pieces = [];
    this.heldBytes = 0;
    this.fail(new Error("the rest of its body is thrown away"));
    this.flow.bodyTaken();
  }

  private async next(): Promise<Chunk | undefined> {
    while (this.pieces.length === 0 && !this.isWhole) await this.more();
    const piece = this.pieces.shift();
    if (!piece && this.failure) throw this.failure;
    if (!piece) return undefined;
    this.heldBytes -= piece.length;
    this.flow.bodyTaken();
    return piece;
  }

  /** Settles when something has come. @throws {Error} When nothing will. */
  private more(): Promise<void> {
    if (this.failure) return Promise.reject(this.failure);
    if (this.isUnasked && !this.isUnwanted && !this.hasBegun) {
      this.isUnasked = false;
      this.flow.askForBody();
    }
    return new Promise<void>((resolve, reject) => {
      this.wake = () => {
        this.wake = undefined;
        if (this.failure) reject(this.failure);
        else resolve();
      };
    });
  }
}

/** Nothing in it is decoded, joined or resolved: `raw_target.ts` takes it apart again. */
function urlOf({ target, host }: RequestHead): string {
  if (!target.startsWith("/")) return target === "*" ? `http://${host}/*` : target;
  return `http://${host}${target}`;
}
