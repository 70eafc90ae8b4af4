// How does a body reach its reader in the turn in which it arrives?

type Chunk = Uint8Array<ArrayBuffer>;

/** A body that arrives in pieces. */
export type BodyStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Who makes a body. */
export type PushedBodySource = {
  /** The reader has sent everything and wants more. */
  pull(): void;
  /** Nobody reads any more. */
  cancel(): void;
};

/** Who reads it. Must not throw. */
export type PushedBodySink = {
  chunk(chunk: Uint8Array<ArrayBuffer>): void;
  ended(): void;
  /** Nothing more comes, and it is not whole. */
  broke(error: unknown): void;
};

/**
 * A body that its source pushes to one reader without a promise and a stream in between. Like a stream that reads nothing ahead, it tells its source when everything
 * has been taken; what is pushed before is kept.
 */
export class PushedBody {
  private waiting: Chunk[] = [];
  private sink: PushedBodySink | undefined;
  private end: { readonly error: unknown } | "whole" | undefined;

  constructor(private readonly source: PushedBodySource) {}

  // The source's side.

  /** @param chunk The reader's from now on. */
  push(chunk: Uint8Array<ArrayBuffer>): void {
    if (this.end !== undefined) return;
    if (this.sink) this.sink.chunk(chunk);
    else this.waiting.push(chunk);
  }

  close(): void {
    if (this.end !== undefined) return;
    this.end = "whole";
    this.sink?.ended();
  }

  fail(error: unknown): void {
    if (this.end !== undefined) return;
    this.end = { error };
    this.sink?.broke(error);
  }

  // The reader's side.

  /** Gives what waits and all that comes to `sink`; once, and not beside `stream`. */
  follow(sink: PushedBodySink): void {
    const { waiting } = this;
    this.waiting = [];
    this.sink = sink;
    for (const chunk of waiting) if (this.sink === sink) sink.chunk(chunk);
    if (this.sink !== sink) return;
    if (this.end === "whole") sink.ended();
    else if (this.end !== undefined) sink.broke(this.end.error);
  }

  /** Everything that came was taken. */
  pull(): void {
    if (this.end === undefined) this.source.pull();
  }

  /** Nobody reads any more; nothing is told to the sink after it. */
  cancel(): void {
    this.waiting = [];
    this.sink = silent;
    if (this.end !== undefined) return;
    this.end = "whole";
    this.source.cancel();
  }

  /** The body as a stream; once, and not beside `follow`. */
  stream(): BodyStream {
    return new ReadableStream<Chunk>({
      start: (controller) =>
        this.follow({
          chunk: (chunk) => controller.enqueue(chunk),
          ended: () => controller.close(),
          broke: (error) => controller.error(error),
        }),
      pull: () => this.pull(),
      cancel: () => this.cancel(),
    }, { highWaterMark: 0 });
  }
}

const silent: PushedBodySink = { chunk() {}, ended() {}, broke() {} };
