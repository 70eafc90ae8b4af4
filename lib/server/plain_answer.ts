// What is an answer without the machinery of a `Response`?
import { isSendable } from "../http/answer_head.ts";
import { type BodyStream, PushedBody } from "./pushed_body.ts";
import type { AnswerHeaders, ServerAnswer } from "./types.ts";

/** The headers of an answer in the order in which they were appended. */
export class AnswerFields implements AnswerHeaders {
  /** Names in lower case and values in turn. */
  readonly list: string[] = [];

  get(name: string): string | null {
    const { list } = this;
    let found: string | null = null;
    for (let at = 0; at < list.length; at += 2) {
      if (list[at] === name) found = found === null ? list[at + 1] : `${found}, ${list[at + 1]}`;
    }
    return found;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  /** @param name In lower case. @throws {TypeError} When HTTP has no form for it. */
  set(name: string, value: string): void {
    const { list } = this;
    const before = list.length;
    this.append(name, value);
    for (let at = before - 2; at >= 0; at -= 2) if (list[at] === name) list.splice(at, 2);
  }

  /** @param name In lower case. @throws {TypeError} When HTTP has no form for it. */
  append(name: string, value: string): void {
    if (!isSendable(name, value)) {
      throw new TypeError(`Cannot send the header "${name.slice(0, 100)}" as it must be one line`);
    }
    this.list.push(name, value);
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (let at = 0; at < this.list.length; at += 2) visit(this.list[at + 1], this.list[at]);
  }
}

/** An answer as the server sends it, without the stream that a `Response` makes of each body. */
export class PlainAnswer implements ServerAnswer {
  readonly headers = new AnswerFields();

  /** @throws {RangeError} When the status is none of a final answer. */
  constructor(readonly status: number, readonly body: ServerAnswer["body"]) {
    if (!(status >= 200 && status <= 599)) {
      throw new RangeError(`Cannot answer with the status ${status} as it must be 200 to 599`);
    }
  }
}

/** The body as a stream, `null` when there is none. Once. */
export function streamOf({ body }: Pick<ServerAnswer, "body">): BodyStream | null {
  if (body instanceof PushedBody) return body.stream();
  if (body instanceof Uint8Array) return new Response(body).body as BodyStream;
  return body as BodyStream | null;
}

/** For those who hand an answer on to a program. */
export function responseOf(answer: ServerAnswer): Response {
  if (answer instanceof Response) return answer;
  const { status, body } = answer;
  const response = new Response(body instanceof PushedBody ? body.stream() : body, { status });
  answer.headers.forEach((value, name) => response.headers.append(name, value));
  return response;
}
