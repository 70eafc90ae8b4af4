// What does the observer of an answer see, and do its last words reach the reader?
import { deepEqual, equal } from "node:assert/strict";
import type { AnswerObserver, ExchangeError } from "../../lib/exchange/types.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import { failureOf, headOf, piecesOf, textOf, ways } from "../support/exchange_calls.ts";
import { exchangePair, upstreamOf } from "../support/exchange_pair.ts";
import { within } from "../support/within.ts";

function observer(tail?: string) {
  let text = "";
  const ends: ("whole" | "canceled" | ExchangeError)[] = [];
  const ended = Promise.withResolvers<void>();
  const observe = (): AnswerObserver => ({
    chunk: (chunk) => text += new TextDecoder().decode(chunk),
    tail: () => tail === undefined ? undefined : new TextEncoder().encode(tail),
    ended: (end) => {
      ends.push(end);
      ended.resolve();
    },
  });
  return { observe, ends, ended: ended.promise, text: () => text };
}

const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

for (const { name, peer } of ways) {
  Deno.test(`an observer ${name} sees every byte and one end, whole answers and streams alike`, async () => {
    const raw = await startRawEngine(
      [{ send: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" }, "close"],
      [{ send: "HTTP/1.1 204 No Content\r\n\r\n" }, "close"],
      [
        { send: chunked + "2\r\nab\r\n" },
        { waitMs: 30 },
        { send: "2\r\ncd\r\n0\r\n\r\n" },
        "close",
      ],
    );
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      for (const text of ["ok", "", "abcd"]) {
        const seen = observer("never said");
        const request = pair.client.request(peer, headOf("/"), null, seen.observe);
        equal(await textOf(await request.response), text);
        request.cancel("too late");
        deepEqual([seen.text(), seen.ends], [text, ["whole"]]);
      }
    }
    await raw.stop();
  });

  Deno.test(`an observer ${name} hears once that the reader left`, async () => {
    const raw = await startRawEngine([{ send: chunked + "2\r\nab\r\n" }, "stall"]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const seen = observer("never said");
      const request = pair.client.request(peer, headOf("/"), null, seen.observe);
      const reader = piecesOf(await request.response).getReader();
      await reader.read();
      await reader.cancel();
      request.cancel("again");
      deepEqual(seen.ends, ["canceled"]);
    }
    await raw.stop();
  });

  Deno.test(`last words ${name} follow what arrived, before the error, for slow and for waiting readers`, async () => {
    const raw = await startRawEngine([
      { send: chunked + "2\r\nab\r\n" },
      { waitMs: 30 },
      "close",
    ]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      for (const isSlow of [false, true]) {
        const seen = observer("|tail");
        const request = pair.client.request(peer, headOf("/"), null, seen.observe);
        const reader = piecesOf(await request.response).getReader();
        if (isSlow) await within(5_000, seen.ended);
        let text = "";
        const failure = await failureOf((async () => {
          for (let next = await reader.read(); !next.done; next = await reader.read()) {
            text += new TextDecoder().decode(next.value);
          }
        })());
        equal(text, "ab|tail");
        equal(failure.failure, "engine_failed");
        deepEqual(seen.ends.map((end) => (end as ExchangeError).failure), ["engine_failed"]);
        request.cancel("too late");
        equal(seen.ends.length, 1);
      }
    }
    await raw.stop();
  });
}
