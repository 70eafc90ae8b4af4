import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import {
  coolDownMs,
  latencyAgeMaxMs,
  LoadBook,
  loadSeatsMax,
  reportedAgeMaxMs,
} from "../../../lib/routing/load_book.ts";
import { candidate } from "./fixtures.ts";

const seat = candidate(1);

Deno.test("LoadBook counts a ticket once up and once down, whatever is called how often", () => {
  const book = new LoadBook();
  const first = book.started(seat, 0);
  const second = book.started(seat, 0);
  equal(book.inFlightCount(seat), 2);
  first.finished();
  first.finished();
  first.headArrived(9);
  equal(book.inFlightCount(seat), 1);
  equal(book.latencyMs(seat, 9), undefined);
  second.finished();
  equal(book.inFlightCount(seat), 0);
});

Deno.test("LoadBook counts services of one peer apart", () => {
  const book = new LoadBook();
  book.started(seat, 0);
  equal(book.inFlightCount({ ...seat, service: "other" }), 0);
});

Deno.test("LoadBook averages the time to the head and forgets it", () => {
  const book = new LoadBook();
  equal(book.latencyMs(seat, 0), undefined);
  const first = book.started(seat, 0);
  first.headArrived(100);
  first.headArrived(900);
  equal(book.latencyMs(seat, 100), 100);
  book.started(seat, 100).headArrived(300);
  equal(book.latencyMs(seat, 300), 120);
  equal(book.latencyMs(seat, 300 + latencyAgeMaxMs + 1), undefined);
  book.started(seat, 20_000).headArrived(20_005);
  equal(book.latencyMs(seat, 20_005), 5);
});

Deno.test("LoadBook believes the worker's own count while it is fresh and larger", () => {
  const book = new LoadBook();
  book.reported(seat, 7, 0);
  book.started(seat, 0);
  equal(book.loadCount(seat, reportedAgeMaxMs), 7);
  equal(book.loadCount(seat, reportedAgeMaxMs + 1), 1);
});

Deno.test("LoadBook cools a seat down for a second after a failure", () => {
  const book = new LoadBook();
  book.failed(seat, 100);
  equal(book.isCoolingDown(seat, 99 + coolDownMs), true);
  equal(book.isCoolingDown(candidate(2), 100), false);
  equal(book.isCoolingDown(seat, 100 + coolDownMs), false);
});

Deno.test("LoadBook stays within its bound and never forgets requests in flight", () => {
  const book = new LoadBook();
  const ticket = book.started(seat, 0);
  for (let n = 0; n < loadSeatsMax * 2; n++) {
    book.started({ peer: candidate(n % 200).peer, service: `s${n}` }, 0).finished();
  }
  equal(book.inFlightCount(seat), 1);
  ok(book.seatCount <= loadSeatsMax);
  ticket.finished();
  equal(book.inFlightCount(seat), 0);
});

Deno.test("LoadBook is at zero after any mix of starts, heads and ends", () => {
  const action = fc.record({ n: fc.nat(3), call: fc.constantFrom("start", "head", "end") });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const book = new LoadBook();
      const tickets: ReturnType<LoadBook["started"]>[] = [];
      for (const [at, { n, call }] of actions.entries()) {
        if (call === "start") tickets.push(book.started(candidate(n), at));
        else if (call === "head") tickets[n]?.headArrived(at);
        else tickets[n]?.finished();
      }
      for (const ticket of tickets) ticket.finished();
      for (let n = 0; n < 4; n++) equal(book.inFlightCount(candidate(n)), 0);
    }),
  );
});
