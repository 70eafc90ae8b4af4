// How is a request's body read once and sent as often as a retry needs?
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB, type Ms } from "../base/units.ts";
import type { BodyStream } from "../exchange/types.ts";
import type { ServerRequest } from "../server/types.ts";
import type { Patience } from "./forward_deadlines.ts";

/** Bodies up to here are read whole before anything is decided; larger ones pass through. A guess. */
const wholeBytesMax: Bytes = MiB;

/** Bounds of one body. */
export type BodyLimits = {
  /** First bytes that stay, so that another worker can get them; at least what is scanned. One piece more may stay. */
  readonly replayBytesMax: Bytes;
  /** Longer bodies are refused. */
  readonly bytesMax: Bytes;
  /** Between two pieces; a client that stops sending is not waited for any longer. */
  readonly bodyTimeoutMs: Ms;
};

const nothing = new Uint8Array(0);

/**
 * The body of one request. Its first bytes are kept for another attempt; once a longer body has moved past
 * them it cannot be sent again.
 */
export class ForwardBody {
  private readonly kept: Uint8Array<ArrayBuffer>[] = [];
  private keptBytes: Bytes = 0;
  private readBytes: Bytes = 0;
  private isEnded = false;
  private hasOverflowed = false;
  private reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  private reading: Promise<Uint8Array<ArrayBuffer> | undefined> | undefined;

  /** Rejects what is read at present. */
  private stall: ((error: OtelaError) => void) | undefined;

  private constructor(
    /** As the client announced it; -1 when it did not. */
    readonly announcedBytes: Bytes | -1,
    private readonly limits: BodyLimits,
    private readonly patience: Patience,
  ) {
    const expired = (why: string) =>
      this.stall?.(new OtelaError("bad_request", `Cannot take the request as ${why}`));
    patience.expired = expired;
  }

  /**
   * Takes a request's body; a small one is read whole.
   * @param contentLength The client's header, empty when there is none.
   * @throws {OtelaError} `body_too_large`; `bad_request` when the body breaks off.
   */
  static async of(
    request: ServerRequest,
    contentLength: string,
    limits: BodyLimits,
    patience: Patience,
  ): Promise<ForwardBody> {
    const announced = contentLength === "" ? -1 : Number(contentLength);
    if (announced > limits.bytesMax) throw tooLarge(limits.bytesMax);
    // Not looked at before it must be: `request.body` makes a stream.
    if (announced === 0 || (announced < 0 && request.body === null)) {
      const empty = new ForwardBody(0, limits, patience);
      empty.isEnded = true;
      return empty;
    }
    const body = new ForwardBody(announced, limits, patience);
    if (announced >= 0 && announced <= wholeBytesMax) {
      const bytes = await body.inTime(request.bytes());
      if (bytes.length > 0) body.keep(bytes);
      body.isEnded = true;
    } else body.reader = request.body!.getReader();
    return body;
  }

  /** Whether it can be sent from its first byte. */
  get isReplayable(): boolean {
    return !this.hasOverflowed;
  }

  /** Bytes read so far, in one piece. Only as long as it is replayable. */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.kept.length <= 1) return this.kept[0] ?? nothing;
    const whole = new Uint8Array(this.keptBytes);
    let at = 0;
    for (const chunk of this.kept) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    this.kept.splice(0, this.kept.length, whole);
    return whole;
  }

  /** Length for the engine: exact once it is over, as announced before, -1 when unknown. */
  get lengthBytes(): Bytes | -1 {
    return this.isEnded && !this.hasOverflowed ? this.keptBytes : this.announcedBytes;
  }

  /** The pieces kept so far, in order. */
  get pieces(): readonly Uint8Array<ArrayBuffer>[] {
    return this.kept;
  }

  /** @returns The next piece, `undefined` at the end. @throws {OtelaError} As `of`. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    // Attempts follow each other, but a read of the last may still wait: its bytes belong to all.
    return this.reading ??= this.readOne().finally(() => this.reading = undefined);
  }

  /** What an exchange sends: bytes when all are here, else a stream that goes on reading. */
  forAttempt(): Uint8Array<ArrayBuffer> | null | BodyStream {
    if (this.isEnded && !this.hasOverflowed) return this.keptBytes > 0 ? this.bytes : null;
    let index = 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: async (controller) => {
        if (index < this.kept.length) return controller.enqueue(this.kept[index++]);
        const chunk = await this.read();
        index = this.kept.length;
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    }, { highWaterMark: 0 });
  }

  /** Nobody wants the rest. */
  cancel(): void {
    this.reader?.cancel("the rest of the body is not wanted").catch(() => {});
  }

  private async readOne(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.isEnded || !this.reader) return undefined;
    const { done, value } = await this.inTime(this.reader.read());
    if (done) {
      this.isEnded = true;
      return undefined;
    }
    this.readBytes += value.length;
    if (this.readBytes > this.limits.bytesMax) {
      this.cancel();
      throw tooLarge(this.limits.bytesMax);
    }
    this.keep(value);
    return value;
  }

  /** @throws {OtelaError} `bad_request` when it breaks off or does not come within its limit. */
  private inTime<Piece>(piece: Promise<Piece>): Promise<Piece> {
    this.patience.wait(this.limits.bodyTimeoutMs, "more of its body");
    return new Promise<Piece>((resolve, reject) => {
      const stall = (error: OtelaError) => {
        this.cancel();
        reject(error);
      };
      this.stall = stall;
      piece.then((value) => {
        this.stall = undefined;
        this.patience.came();
        resolve(value);
      }, (cause) => {
        this.stall = undefined;
        this.patience.came();
        reject(brokenOff(cause));
      });
    });
  }

  private keep(chunk: Uint8Array<ArrayBuffer>): void {
    if (this.keptBytes >= this.limits.replayBytesMax) {
      // All that was kept has been sent by now, since reading goes on only after it.
      this.hasOverflowed = true;
      this.kept.length = 0;
    }
    if (this.hasOverflowed) return;
    this.kept.push(chunk);
    this.keptBytes += chunk.length;
  }
}

function tooLarge(bytesMax: Bytes): OtelaError {
  return new OtelaError(
    "body_too_large",
    `Cannot take the request as its body must have at most ${bytesMax} bytes`,
  );
}

function brokenOff(cause: unknown): OtelaError {
  return new OtelaError("bad_request", "Cannot take the request as its body broke off", { cause });
}
