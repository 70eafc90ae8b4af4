// What becomes of a connection when its client or its handler does not keep pace, or to what it said?
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { MiB } from "../../lib/base/units.ts";
import { PushedBody } from "../../lib/server/pushed_body.ts";
import type { ServerAnswer } from "../../lib/server/types.ts";
import { eventually } from "../support/eventually.ts";
import {
  answerWith,
  bytesOf,
  listenHttp,
  pathOf,
  requestText,
  textAnswer,
} from "../support/http_rig.ts";
import type { RawClient } from "../support/raw_client.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;

/** Waits until a count stands still while others are served. */
async function standsStill(
  rig: { connect(): Promise<RawClient> },
  count: () => number,
): Promise<void> {
  let before = -1;
  await eventually(async () => {
    const isStill = count() === before;
    before = count();
    await others(rig);
    return isStill && count() === before;
  }, deadlineMs);
}

/** Time in which a server that wants to can do a lot: others are served. */
async function others(rig: { connect(): Promise<RawClient> }, rounds = 50): Promise<void> {
  using client = await rig.connect();
  for (let i = 0; i < rounds; i++) {
    await client.send(requestText("GET /others"));
    equal((await client.answer()).body, "others");
  }
}

const pieceBytes = MiB;
const pieces = 48;
const endless: Record<string, (pulled: () => void) => ServerAnswer["body"]> = {
  PushedBody(pulled) {
    let left = pieces;
    const body: PushedBody = new PushedBody({
      pull() {
        pulled();
        if (left-- > 0) body.push(new Uint8Array(pieceBytes));
        else body.close();
      },
      cancel: () => {},
    });
    return body;
  },
  stream(pulled) {
    let left = pieces;
    return new ReadableStream({
      pull(controller) {
        pulled();
        if (left-- > 0) controller.enqueue(new Uint8Array(pieceBytes));
        else controller.close();
      },
    }, { highWaterMark: 0 });
  },
};
for (const [kind, make] of Object.entries(endless)) {
  Deno.test(`HttpServer asks a ${kind} for no more than a slow client reads`, async () => {
    let pulls = 0;
    await using rig = listenHttp((request) =>
      pathOf(request) === "/others" ? textAnswer("others") : answerWith(make(() => pulls++))
    );
    using client = await rig.connect();
    await client.send(requestText("GET /"));
    await client.until("\r\n\r\n");
    // The system holds some of it for the client; then nothing moves.
    await standsStill(rig, () => pulls);
    ok(pulls > 0 && pulls < pieces / 2, `${pulls} of ${pieces} pieces`);
    let bytes = 0;
    for (let size = -1; size !== 0; bytes += size) {
      size = parseInt(await client.until("\r\n"), 16);
      await client.take(size + 2);
    }
    deepEqual([bytes, pulls], [pieces * pieceBytes, pieces + 1]);
  });
}

Deno.test("HttpServer reads no more of a body than its handler, beyond what it holds", async () => {
  const gate = Promise.withResolvers<void>();
  await using rig = listenHttp(async (request) => {
    if (pathOf(request) === "/others") return textAnswer("others");
    await gate.promise;
    let bytes = 0;
    for await (const chunk of request.body!) bytes += chunk.length;
    return textAnswer(`${bytes}`);
  });
  using client = await rig.connect();
  await client.send(requestText("POST /", [`content-length: ${pieces * pieceBytes}`]));
  let sent = 0;
  const sending = (async () => {
    for (const piece = new Uint8Array(pieceBytes); sent < pieces; sent++) await client.send(piece);
  })();
  await standsStill(rig, () => sent);
  ok(sent < pieces / 2, `${sent} of ${pieces} pieces`);
  gate.resolve();
  equal((await client.answer()).body, `${pieces * pieceBytes}`);
  await sending;
});

Deno.test("HttpServer gets an answer through that comes after its handler threw a large body away", async () => {
  const gate = Promise.withResolvers<void>();
  await using rig = listenHttp(async (request) => {
    if (pathOf(request) === "/others") return textAnswer("others");
    await request.body!.cancel();
    await gate.promise;
    return textAnswer("too large", 413);
  });
  using client = await rig.connect();
  await client.send(requestText("POST /", [`content-length: ${16 * MiB}`]));
  let sent = 0;
  const sending = (async () => {
    for (const piece = new Uint8Array(MiB); sent < 16; sent++) await client.send(piece);
  })();
  await standsStill(rig, () => sent); // More has come than is worth reading.
  gate.resolve();
  const { status, body } = await client.answer();
  deepEqual([status, body], [413, "too large"]);
  await sending;
});

Deno.test("HttpServer says 100 Continue when the body is read, and once", async () => {
  await using rig = listenHttp(async (request) =>
    textAnswer(new TextDecoder().decode(await request.bytes()))
  );
  using client = await rig.connect();
  for (const body of ["abc", "de"]) {
    await client.send(
      requestText("POST /", ["expect: 100-continue", `content-length: ${body.length}`]),
    );
    equal(await client.until("\r\n\r\n"), "HTTP/1.1 100 Continue");
    await client.send(body);
    const answer = await client.answer();
    deepEqual([answer.status, answer.body], [200, body]);
  }
  // Who does not wait is not asked.
  await client.send(requestText("POST /", ["expect: 100-continue", "content-length: 1"], "f"));
  deepEqual((await client.answer()).body, "f");
});

Deno.test("HttpServer refuses a body that it never asked for, and ends the connection", async () => {
  await using rig = listenHttp(() => textAnswer("too large", 413));
  using client = await rig.connect();
  await client.send(requestText("POST /", ["expect: 100-continue", "content-length: 100"]));
  equal((await client.answer()).status, 413);
  equal(await client.rest(), "");
});

Deno.test("HttpServer never says 100 Continue within an answer that has begun", async () => {
  await using rig = listenHttp((request) =>
    answerWith(request.body, 200, { "content-length": "3" })
  );
  using client = await rig.connect();
  await client.send(requestText("POST /", ["expect: 100-continue", "content-length: 3"]));
  match(await client.until("\r\n\r\n"), /^HTTP\/1\.1 (100|200) /);
  await client.send("abc");
  equal(await client.take(3), "abc");
});

const untrue: [what: string, length: number, pieces: string[]][] = [
  ["shorter, in one piece", 10, ["abc"]],
  ["shorter, in pieces", 10, ["abc", "def"]],
  ["empty", 10, []],
  ["longer, in one piece", 2, ["abc"]],
  ["longer, in pieces", 5, ["abc", "def"]],
  ["longer by a whole piece", 3, ["abc", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]],
];
for (const [what, length, texts] of untrue) {
  Deno.test(`HttpServer ends the connection with an answer that has not the length that it told: ${what}`, async () => {
    const canceled = Promise.withResolvers<void>();
    const bodies: Record<string, () => ServerAnswer["body"]> = {
      "/stream": () => ReadableStream.from(texts.map(bytesOf)),
      "/pushed"() {
        const body = new PushedBody({ pull: () => {}, cancel: canceled.resolve });
        for (const text of texts) body.push(bytesOf(text));
        if (texts.join("").length < length) body.close();
        return body;
      },
    };
    await using rig = listenHttp((request) =>
      pathOf(request) === "/next"
        ? textAnswer("next")
        : answerWith(bodies[pathOf(request)](), 200, { "content-length": `${length}` })
    );
    for (const path of ["/stream", "/pushed"]) {
      using client = await rig.connect();
      await client.send(requestText(`GET ${path}`) + requestText("GET /next"));
      match(await client.until("\r\n\r\n"), new RegExp(`content-length: ${length}(\r\n|$)`));
      const body = await client.rest();
      ok(body.length <= length && texts.join("").startsWith(body), body);
      // Only when the length was met before more came can it look whole.
      equal(body.length === length, texts[0]?.length === length);
    }
    if (texts.join("").length > length) await within(deadlineMs, canceled.promise);
  });
}

Deno.test("HttpServer ends a stream that broke without the last piece", async () => {
  const bodies: Record<string, () => ServerAnswer["body"]> = {
    "/stream": () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(bytesOf("abc")),
        pull: (controller) => controller.error(new Error("lost")),
      }, { highWaterMark: 0 }),
    "/pushed"() {
      const body: PushedBody = new PushedBody({
        pull: () => body.fail(new Error("lost")),
        cancel: () => {},
      });
      body.push(bytesOf("abc"));
      return body;
    },
  };
  await using rig = listenHttp((request) =>
    pathOf(request) === "/next" ? textAnswer("next") : answerWith(bodies[pathOf(request)]())
  );
  for (const path of ["/stream", "/pushed"]) {
    using client = await rig.connect();
    await client.send(requestText(`GET ${path}`) + requestText("GET /next"));
    await client.until("\r\n\r\n");
    equal(await client.rest(), "3\r\nabc\r\n");
    await rejects(fetch(rig.url + path).then((response) => response.text()));
  }
});
