// Is an answer without a Response what a Response would be?
import { deepEqual, equal, throws } from "node:assert/strict";
import {
  AnswerFields,
  PlainAnswer,
  responseOf,
  streamOf,
} from "../../../lib/server/plain_answer.ts";
import { PushedBody } from "../../../lib/server/pushed_body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const noSource = { pull: () => {}, cancel: () => {} };

/** A body that was pushed whole. */
function pushed(...texts: string[]): PushedBody {
  const body = new PushedBody(noSource);
  for (const text of texts) body.push(bytes(text));
  body.close();
  return body;
}

Deno.test("AnswerFields joins values of one name, and keeps the order in which they came", () => {
  const fields = new AnswerFields();
  equal(fields.get("x-a"), null);
  equal(fields.has("x-a"), false);
  fields.append("x-a", "1");
  fields.append("x-b", "");
  fields.append("x-a", "2");
  equal(fields.get("x-a"), "1, 2");
  equal(fields.get("x-b"), "");
  equal(fields.has("x-b"), true);
  const seen: string[] = [];
  fields.forEach((value, name) => void seen.push(name, value));
  deepEqual(seen, ["x-a", "1", "x-b", "", "x-a", "2"]);
  deepEqual(fields.list, seen);
});

Deno.test("AnswerFields puts one value in place of all of its name, when it is set", () => {
  const fields = new AnswerFields();
  for (const value of ["1", "2", "3"]) fields.append("x-a", value);
  fields.append("x-b", "4");
  fields.set("x-a", "5");
  deepEqual(fields.list, ["x-b", "4", "x-a", "5"]);
  fields.set("x-c", "6");
  equal(fields.get("x-c"), "6");
});

Deno.test("AnswerFields refuses what would be more than one line", () => {
  const fields = new AnswerFields();
  for (const [name, value] of [["x-a", "1\r\nx-b: 2"], ["x-a", "\n"], ["x a", "1"], ["x-a", "€"]]) {
    throws(() => fields.append(name, value), TypeError);
    throws(() => fields.set(name, value), TypeError);
  }
  deepEqual(fields.list, []);
});

Deno.test("PlainAnswer takes the status of a final answer alone", () => {
  for (const status of [200, 204, 404, 599]) equal(new PlainAnswer(status, null).status, status);
  for (const status of [0, 100, 101, 199, 600, -1, NaN]) {
    throws(() => new PlainAnswer(status, null), RangeError, `${status}`);
  }
});

Deno.test("streamOf reads bodies of each kind as a stream, and none as none", async () => {
  const stream = new Response("streamed").body;
  equal(streamOf({ body: stream }), stream);
  equal(streamOf({ body: null }), null);
  equal(await new Response(streamOf({ body: bytes("whole") })).text(), "whole");
  equal(await new Response(streamOf({ body: pushed("in ", "parts") })).text(), "in parts");
});

Deno.test("responseOf hands a Response on as it is", () => {
  const response = new Response("x");
  equal(responseOf(response), response);
});

Deno.test("responseOf makes a Response with the same status, headers and body", async () => {
  for (
    const [body, text] of [[bytes("whole"), "whole"], [pushed("in ", "parts"), "in parts"]] as const
  ) {
    const answer = new PlainAnswer(418, body);
    answer.headers.append("content-type", "text/plain");
    answer.headers.append("set-cookie", "a=1");
    answer.headers.append("set-cookie", "b=2");
    const response = responseOf(answer);
    equal(response.status, 418);
    equal(response.headers.get("content-type"), "text/plain");
    deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
    equal(await response.text(), text);
  }
  equal(responseOf(new PlainAnswer(204, null)).body, null);
});
