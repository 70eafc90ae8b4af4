// How does an answer become bytes for its client?
import type { Bytes } from "../base/units.ts";
import { type AnswerFraming, encodeAnswerHead } from "../http/answer_head.ts";
import type { RequestHead } from "../http/request_reader.ts";
import { encodeChunk, joinHead, lastChunk } from "../http/wire_bytes.ts";
import type { Outgoing } from "./outgoing.ts";
import { PushedBody, type PushedBodySink } from "./pushed_body.ts";
import type { ServerAnswer } from "./types.ts";

const nothing = new Uint8Array(0);

/** Whose connection it is. */
export type AnswerOwner = {
  /** Whether another request may follow; an answer can say that none may. */
  isKept: boolean;
  /** All of it is on its way. */
  answered(): void;
  /** It broke off: the client must see that by the end of the connection. */
  cut(): void;
};

/** Says the time. */
export type DateSource = {
  /** Now, as answers' heads say it. */
  date(): string;
};

/** What must be known of the request. */
export type AnsweredHead = Pick<RequestHead, "method" | "isOld">;

/** How the client knows where the body ends. */
function framingOf(
  { status, body, headers }: ServerAnswer,
  { method, isOld }: AnsweredHead,
): AnswerFraming {
  if (method === "HEAD" || status === 204 || status === 304) return { kind: "none" };
  if (body === null) return { kind: "length", bytes: 0 };
  if (body instanceof Uint8Array) return { kind: "length", bytes: body.length };
  const told = headers.get("content-length");
  if (told !== null && /^\d{1,15}$/.test(told)) return { kind: "length", bytes: Number(told) };
  return isOld ? { kind: "close" } : { kind: "chunked" };
}

/** Nobody reads the answer. */
export function giveUp({ body }: Pick<ServerAnswer, "body">): void {
  if (body instanceof PushedBody) body.cancel();
  else if (body instanceof ReadableStream) body.cancel("the client went away").catch(() => {});
}

/** Sends one answer after the other. */
export class AnswerWriter implements PushedBodySink {
  private body: PushedBody | undefined;
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private framing: AnswerFraming["kind"] = "none";
  /** Of a body whose length was told. */
  private owedBytes: Bytes = 0;
  private onSent: (() => void) | undefined;
  private isCanceled = false;

  constructor(
    private readonly outgoing: Outgoing,
    private readonly owner: AnswerOwner,
    private readonly dates: DateSource,
  ) {}

  /** The one before is over. */
  send(answer: ServerAnswer, asked: AnsweredHead): void {
    const framing = framingOf(answer, asked);
    const { kind } = framing;
    if (kind === "close" || answer.headers.get("connection") === "close") this.owner.isKept = false;
    if (kind === "none") giveUp(answer);
    const body = kind === "none" ? null : answer.body;
    if (body === null || body instanceof Uint8Array) {
      this.outgoing.write(joinHead(this.headOf(answer, asked, framing), body ?? nothing));
      return this.owner.answered();
    }
    this.framing = kind;
    this.owedBytes = framing.kind === "length" ? framing.bytes : 0;
    const head = joinHead(this.headOf(answer, asked, framing), nothing);
    if (body instanceof PushedBody) {
      this.body = body;
      // What is there already leaves with the head.
      this.outgoing.together(() => {
        this.outgoing.write(head);
        body.follow(this);
      });
    } else {
      this.outgoing.write(head);
      void this.pump(body.getReader());
    }
  }

  /** Everything that there was has left. */
  sent(): void {
    this.body?.pull();
    const { onSent } = this;
    this.onSent = undefined;
    onSent?.();
  }

  /** The client is gone. */
  cancel(): void {
    this.isCanceled = true;
    const { body, reader } = this;
    this.forget();
    body?.cancel();
    reader?.cancel("the client went away").catch(() => {});
    this.onSent?.();
  }

  chunk(chunk: Uint8Array<ArrayBuffer>): void {
    if (this.isCanceled || chunk.length === 0) return;
    if (this.framing === "chunked") return this.outgoing.write(encodeChunk(chunk));
    if (this.framing !== "length") return this.outgoing.write(chunk);
    // What is longer than was told would be taken for the next answer.
    if (chunk.length > this.owedBytes) return this.broke();
    this.owedBytes -= chunk.length;
    this.outgoing.write(chunk);
  }

  ended(): void {
    if (this.isCanceled) return;
    if (this.framing === "length" && this.owedBytes > 0) return this.broke();
    if (this.framing === "chunked") this.outgoing.write(lastChunk());
    this.forget();
    this.owner.answered();
  }

  broke(): void {
    if (this.isCanceled) return;
    const { body, reader } = this;
    this.forget();
    this.isCanceled = true;
    body?.cancel();
    reader?.cancel("it has not the length that was told").catch(() => {});
    this.owner.cut();
  }

  /** A body that is a stream. */
  private async pump(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    this.reader = reader;
    try {
      while (!this.isCanceled) {
        const { done, value } = await reader.read();
        if (done) return this.ended();
        this.chunk(value as Uint8Array<ArrayBuffer>);
        if (!this.outgoing.isEmpty) await new Promise<void>((resolve) => this.onSent = resolve);
      }
    } catch {
      this.broke();
    }
  }

  private headOf(answer: ServerAnswer, asked: AnsweredHead, framing: AnswerFraming): string {
    const { status, headers, body } = answer;
    const list: string[] = [];
    headers.forEach((value, name) => list.push(name, value));
    const isTelling = asked.method === "HEAD" || status === 304;
    const announced = isTelling ? headers.get("content-length") ?? lengthText(body) : undefined;
    const connection = !this.owner.isKept ? "close" : asked.isOld ? "keep-alive" : "";
    const date = this.dates.date();
    return encodeAnswerHead({ status, headers: list, framing, announced, connection, date });
  }

  private forget(): void {
    this.body = undefined;
    this.reader = undefined;
  }
}

function lengthText(body: ServerAnswer["body"]): string | undefined {
  return body instanceof Uint8Array ? String(body.length) : undefined;
}
