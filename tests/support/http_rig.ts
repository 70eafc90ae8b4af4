// How does a test answer what comes over a real port?
import type { OtelaError } from "../../lib/base/errors.ts";
import { HttpServer } from "../../lib/server/http_server.ts";
import { PlainAnswer } from "../../lib/server/plain_answer.ts";
import type { ServerAnswer, ServerHandlers } from "../../lib/server/types.ts";
import { RawClient } from "./raw_client.ts";

/** A server with a handler of the test's own; what is no request gets a 400 that says its error's code. */
export function listenHttp(answer: ServerHandlers["answer"]) {
  const refused: OtelaError[] = [];
  const server = HttpServer.listen("127.0.0.1", 0, {
    answer,
    refuse(error) {
      refused.push(error);
      return textAnswer(error.code, 400);
    },
  });
  const { port } = server.addr;
  return {
    server,
    refused,
    port,
    url: `http://127.0.0.1:${port}`,
    connect: () => RawClient.connect(port),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export function textAnswer(
  text: string,
  status = 200,
  headers: Record<string, string> = {},
): PlainAnswer {
  return answerWith(bytesOf(text), status, headers);
}

export function answerWith(
  body: ServerAnswer["body"],
  status = 200,
  headers: Record<string, string> = {},
): PlainAnswer {
  const answer = new PlainAnswer(status, body);
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return answer;
}

/** A request as text. @param start Method and target. */
export function requestText(start: string, fields: readonly string[] = [], body = ""): string {
  return [`${start} HTTP/1.1`, "host: head.example", ...fields, "", body].join("\r\n");
}

/** The target without the host. */
export function pathOf({ url }: { readonly url: string }): string {
  return url.slice(url.indexOf("/", "http://".length));
}
