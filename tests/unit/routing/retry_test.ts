import { deepEqual, equal } from "node:assert/strict";
import {
  type ExchangeFailure,
  exchangeFailures,
  exchangePhases,
} from "../../../lib/base/outcome.ts";
import {
  decideHandOn,
  decideRetry,
  type FailedAttempt,
  isEngineFailure,
  isUnreachableFailure,
  type RetryDecision,
} from "../../../lib/routing/retry.ts";
import { RetryBudget, retryReserve } from "../../../lib/routing/retry_budget.ts";
import { parseRetryAfter, restMsMax, restMsOf } from "../../../lib/routing/retry_after.ts";

const both = [true, false];

/** The rules once more, as a table: phase to what is decided for `safe` and for `never`. */
const unbegun: Record<string, { safe: RetryDecision; never: RetryDecision }> = {
  not_sent: { safe: "retry", never: "retry" },
  refused: { safe: "retry", never: "retry" },
  sent: { safe: "retry", never: "fail" },
  head: { safe: "retry", never: "fail" },
  body: { safe: "retry", never: "fail" },
};

function* everyAttempt(): Generator<FailedAttempt> {
  for (const phase of exchangePhases) {
    for (const failure of exchangeFailures) {
      for (const policy of ["safe", "never"] as const) {
        for (const isWithinBudget of both) {
          for (const isReplayable of both) {
            for (const hasAnswerBegun of both) {
              for (const isClientGone of both) {
                yield {
                  phase,
                  failure,
                  policy,
                  isWithinBudget,
                  isReplayable,
                  hasAnswerBegun,
                  isClientGone,
                };
              }
            }
          }
        }
      }
    }
  }
}

Deno.test("decideRetry follows the table, for every phase, failure, policy, budget, body and client", () => {
  let count = 0;
  for (const attempt of everyAttempt()) {
    count++;
    let expected = unbegun[attempt.phase][attempt.policy];
    if (!attempt.isWithinBudget && attempt.phase !== "not_sent") expected = "fail";
    if (attempt.hasAnswerBegun || !attempt.isReplayable) expected = "fail";
    if (attempt.failure === "canceled") expected = "fail";
    if (attempt.isClientGone) expected = "stop";
    equal(decideRetry(attempt), expected, JSON.stringify(attempt));
  }
  equal(count, 5 * 11 * 2 * 2 * 2 * 2 * 2);
});

Deno.test("decideRetry never repeats what an engine may have seen, when the service says never", () => {
  for (const attempt of everyAttempt()) {
    if (attempt.policy === "safe" || decideRetry(attempt) !== "retry") continue;
    equal(attempt.phase === "not_sent" || attempt.phase === "refused", true);
  }
});

Deno.test("decideHandOn passes a busy worker's request on, but for services that are never asked twice", () => {
  const answer = {
    policy: "safe",
    isReplayable: true,
    isClientGone: false,
    hasAnswerBegun: false,
    isWithinBudget: true,
  } as const;
  equal(decideHandOn(answer), "retry");
  equal(decideHandOn({ ...answer, policy: "never" }), "fail");
  equal(decideHandOn({ ...answer, isWithinBudget: false }), "fail");
  equal(decideHandOn({ ...answer, isReplayable: false }), "fail");
  equal(decideHandOn({ ...answer, isClientGone: true }), "stop");
});

Deno.test("failures are of peers that cannot be reached, of engines, or of neither", () => {
  const lost: ExchangeFailure[] = [
    "unreachable",
    "lane_closed",
    "lane_stalled",
    "engine_unreachable",
  ];
  deepEqual(exchangeFailures.filter(isUnreachableFailure), lost);
  deepEqual(exchangeFailures.filter(isEngineFailure), [
    "engine_failed",
    "engine_timed_out",
    "protocol",
  ]);
});

Deno.test("RetryBudget keeps a total outage below 1.2 attempts per request", () => {
  for (const requests of [100, 1_500, 10_000]) {
    const budget = new RetryBudget();
    let attempts = 0;
    for (let request = 0; request < requests; request++) {
      budget.requested();
      attempts++;
      for (let retry = 0; retry < 3 && budget.isOpen; retry++) {
        attempts++;
        budget.started().failed();
      }
    }
    equal(attempts <= 1.2 * requests, true, `${attempts} attempts of ${requests} requests`);
    equal(attempts >= 1.09 * requests, true);
  }
});

Deno.test("RetryBudget lets every retry through that succeeds, also many at once", () => {
  const budget = new RetryBudget();
  const running = Array.from({ length: 200 }, () => {
    budget.requested();
    equal(budget.isOpen, true);
    return budget.started();
  });
  equal(budget.runningCount, 200);
  for (const ticket of running) {
    ticket.succeeded();
    ticket.failed(); // Settled already.
  }
  deepEqual([budget.runningCount, budget.tokens], [0, retryReserve]);
});

Deno.test("C032: Retry-After is read in both forms, and rests no worker longer than the cap", () => {
  const wallMs = Date.UTC(2026, 6, 1, 12, 0, 0);
  equal(parseRetryAfter("7", wallMs), 7_000);
  equal(parseRetryAfter(" 0 ", wallMs), 0);
  equal(parseRetryAfter("Wed, 01 Jul 2026 12:00:09 GMT", wallMs), 9_000);
  equal(parseRetryAfter("Wed, 01 Jul 2026 11:00:00 GMT", wallMs), 0);
  for (const text of ["", "soon", "-3", "5.5", "1e3", "Wed, 32 Foo 2026 12:00:00 GMT"]) {
    equal(parseRetryAfter(text, wallMs), undefined, text);
  }
  equal(restMsOf("86400", wallMs), restMsMax);
  equal(restMsOf("2", wallMs), 2_000);
  equal(restMsOf("", wallMs), 1_000);
});
