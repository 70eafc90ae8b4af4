// How is one request tried until a worker answers it?
import { OtelaError } from "../base/errors.ts";
import { headerOf } from "../base/header_list.ts";
import { KiB, type Ms, secondMs } from "../base/units.ts";
import { AnswerBody } from "../exchange/answer_body.ts";
import { ExchangeError, type ExchangeResponse } from "../exchange/types.ts";
import { type BusyAnswer, decideHandOn, decideRetry, isBusyStatus } from "../routing/retry.ts";
import { parseRetryAfter } from "../routing/retry_after.ts";
import type { ServerAnswer } from "../server/types.ts";
import { hold, isEventStream, mayHold, type ResponseBody, toResponse } from "./forward_answer.ts";
import { ForwardAttempt } from "./forward_attempt.ts";
import type { ForwarderPorts } from "./forward_ports.ts";
import type { ForwardFacts, ForwardProgress } from "./forward_progress.ts";
import { ForwardStream } from "./forward_stream.ts";

/** An answer that another worker might better, kept in case none does. */
type Refusal = {
  readonly attempt: ForwardAttempt;
  readonly answer: ExchangeResponse;
  readonly body: ResponseBody;
};

/** An answer that says "no room" is short; a longer one is passed on at once. */
const refusalBytesMax = 64 * KiB;

/** One request on its way: attempts one after another, then the answer. */
export class ForwardRun {
  private readonly ports: ForwarderPorts;
  private readonly facts: ForwardFacts;
  private retryAfterMs: Ms = Infinity;

  constructor(private readonly progress: ForwardProgress) {
    this.ports = progress.ports;
    this.facts = progress.facts;
  }

  /**
   * @returns The answer of the first worker that gave one.
   * @throws {OtelaError} When nobody did; nothing has been sent to the client then.
   */
  async respond(): Promise<ServerAnswer> {
    const { request, plan } = this.facts;
    const { sweep } = this.ports;
    const answered = sweep.watch(request, () => this.progress.clientGone());
    try {
      const route = plan.isDebug ? this.progress.route() : "";
      const response = await this.tryAll();
      if (route !== "") response.headers.set("x-otela-route", route);
      return response;
    } catch (error) {
      this.progress.patience.end();
      plan.body.cancel();
      throw error;
    } finally {
      answered();
    }
  }

  private async tryAll(): Promise<ServerAnswer> {
    const { attempts } = this.facts;
    let failed: ExchangeError | undefined;
    let refusal: Refusal | undefined;
    for (;;) {
      // Who was refused somewhere is not kept waiting elsewhere: it has an answer.
      const attempt = this.takeNow() ?? (refusal ? undefined : await this.takeLater());
      if (!attempt) {
        if (refusal) return this.refuse(refusal);
        throw failed ?? this.nobody();
      }
      let answer: ExchangeResponse;
      try {
        answer = await this.ask(attempt);
        refusal?.attempt.cancel("another worker was asked");
        if (!this.isHandedOn(answer.status)) {
          const { body } = answer;
          return body instanceof AnswerBody
            ? await this.answerOf(attempt, answer, body)
            : this.accept(attempt, answer, body);
        }
        refusal = await this.keepRefusal(attempt, answer);
      } catch (thrown) {
        const error = thrown instanceof ExchangeError ? this.progress.reasonOf(thrown) : thrown;
        attempt.failed(error);
        // One whose head could not be used is still sending its body.
        attempt.cancel("its answer could not be used");
        if (!(error instanceof ExchangeError)) throw error;
        failed = error;
        if (error.phase === "not_sent") attempts.unreached();
        const { phase, failure } = error;
        const decision = decideRetry({ phase, failure, ...this.standing(attempt) });
        if (decision !== "retry" || this.progress.isTimeOver) throw error;
        this.progress.lateness = undefined;
      }
    }
  }

  /** What decides about another attempt, besides how this one ended. */
  private standing(attempt: ForwardAttempt): BusyAnswer {
    return {
      policy: attempt.candidate.retry,
      isReplayable: this.facts.plan.body.isReplayable,
      isClientGone: this.progress.isClientGone,
      hasAnswerBegun: false,
      isWithinBudget: this.ports.budget.isOpen,
    };
  }

  private takeNow(): ForwardAttempt | undefined {
    const { attempts, plan } = this.facts;
    const { admission, clock } = this.ports;
    if (attempts.count === 0 && admission.isWaiting(plan.admissionKey)) return undefined;
    const next = attempts.next(clock.nowMs());
    if (!next) return undefined;
    return this.progress.begin(new ForwardAttempt(this.ports, next, next.number > 1));
  }

  /** Waits for a place at a full worker. @returns `undefined` when that is not why nobody was found. */
  private async takeLater(): Promise<ForwardAttempt | undefined> {
    const { attempts, plan, context } = this.facts;
    const { admission } = this.ports;
    const mustQueue = attempts.count === 0 && admission.isWaiting(plan.admissionKey);
    if (!mustQueue && attempts.blocked !== "full") return undefined;
    let taken: ForwardAttempt | undefined;
    const take = (): boolean => {
      const next = attempts.next(this.ports.clock.nowMs());
      if (next) taken = this.progress.begin(new ForwardAttempt(this.ports, next, next.number > 1));
      // Who will never get one need not wait for it.
      return next !== undefined || attempts.blocked !== "full";
    };
    await admission.wait(plan.admissionKey(), {
      client: plan.client || context.remoteAddress,
      priority: plan.priority,
      take,
      onWait: (leave) => {
        this.progress.leaveQueue = leave;
      },
    });
    this.progress.leaveQueue = undefined;
    return taken;
  }

  private async ask(attempt: ForwardAttempt): Promise<ExchangeResponse> {
    const { plan } = this.facts;
    this.progress.patience.wait(this.ports.limits.headTimeoutMs, "the head of an answer");
    const answer = await attempt.ask(
      this.progress.head(plan.body.lengthBytes),
      plan.body.forAttempt(),
      (status, headers) =>
        this.progress.observed(ForwardStream.isFor(this.progress, status, headers)),
    );
    attempt.headArrived(answer);
    this.progress.status = answer.status;
    this.progress.patience.came();
    return answer;
  }

  private isHandedOn(status: number): boolean {
    return isBusyStatus(status) || (status === 404 && this.facts.plan.isHandedOnWhenMissing);
  }

  /** @throws {ExchangeError} When the answer breaks off before it is whole or its stream has begun. */
  private async answerOf(
    attempt: ForwardAttempt,
    answer: ExchangeResponse,
    body: AnswerBody,
  ): Promise<ServerAnswer> {
    const { limits } = this.ports;
    if (ForwardStream.isFor(this.progress, answer.status, answer.headers)) {
      const stream = new ForwardStream(this.progress, attempt, body);
      return this.responseOf(attempt, answer, await stream.open());
    }
    this.progress.patience.wait(limits.firstTokenTimeoutMs, "the first byte of an answer");
    if (isEventStream(answer.headers)) {
      await attempt.observer!.begun();
      this.progress.patience.came();
      this.throwIfSilent(attempt);
      return this.accept(attempt, answer, body.stream());
    }
    const isHeld = mayHold(answer, limits.holdBytesMax) &&
      !limits.noHold.has(this.facts.target.service);
    if (!isHeld) {
      this.progress.patience.came();
      return this.accept(attempt, answer, body.stream());
    }
    const held = await hold(body, limits.holdBytesMax);
    this.progress.patience.came();
    return this.accept(attempt, answer, held);
  }

  /** A stream that ended or broke before its first byte is no answer: nothing has gone to the client yet. */
  private throwIfSilent({ observer }: ForwardAttempt): void {
    const { end, bodyBytes } = observer!;
    if (end === undefined || bodyBytes > 0) return;
    if (end instanceof ExchangeError) throw end;
    throw new ExchangeError(
      "engine_failed",
      "head",
      "the engine ended its stream without an event",
    );
  }

  private accept(
    attempt: ForwardAttempt,
    answer: ExchangeResponse,
    body: ResponseBody,
  ): ServerAnswer {
    attempt.succeeded(answer);
    const response = this.responseOf(attempt, answer, body);
    attempt.accept((end) => this.progress.ended(end));
    return response;
  }

  private responseOf(
    attempt: ForwardAttempt,
    answer: ExchangeResponse,
    body: ResponseBody,
  ): ServerAnswer {
    const { request, target } = this.facts;
    return toResponse(answer, body, {
      method: request.method,
      worker: attempt.peer,
      publicPrefix: target.publicPrefix,
    });
  }

  /** Keeps an answer that another worker may better; one that is passed on anyway is simply the last. */
  private async keepRefusal(attempt: ForwardAttempt, answer: ExchangeResponse): Promise<Refusal> {
    const { body } = answer;
    const afterMs = parseRetryAfter(
      headerOf(answer.headers, "retry-after"),
      this.ports.wallClock(),
    );
    if (afterMs !== undefined) this.retryAfterMs = Math.min(this.retryAfterMs, afterMs);
    const held = body instanceof AnswerBody ? await hold(body, refusalBytesMax) : body;
    attempt.succeeded(answer);
    const kept = { attempt, answer, body: held };
    // What is missing there was not begun there, so asking elsewhere repeats nothing.
    const isMissing = answer.status === 404;
    const standing = this.standing(attempt);
    const decision = isMissing
      ? decideHandOn({ ...standing, policy: "safe", isWithinBudget: true })
      : decideHandOn(standing);
    if (decision !== "retry") this.facts.attempts.close();
    return kept;
  }

  /** Everybody was asked: the last answer, with the least wait that anybody named (C032). */
  private refuse({ attempt, answer, body }: Refusal): ServerAnswer {
    this.progress.worker = attempt.peer;
    this.progress.status = answer.status;
    const response = this.accept(attempt, answer, body);
    if (this.retryAfterMs !== Infinity) {
      response.headers.set("retry-after", String(Math.ceil(this.retryAfterMs / secondMs)));
    }
    return response;
  }

  /** Why nobody could be asked at all. */
  private nobody(): OtelaError {
    const { attempts, plan, target } = this.facts;
    if (attempts.blocked !== "out") return new OtelaError("no_candidate", "Cannot ask anybody");
    const nowMs = this.ports.clock.nowMs();
    const rests = plan.tiers.flat().map((one) => this.ports.outliers.restMs(one, nowMs));
    const restMs = Math.min(...rests.filter((rest) => rest > 0), 60 * secondMs);
    return new OtelaError(
      "no_candidate",
      `Cannot route to "${target.service}" as an engine must answer: all that could have kept failing`,
      { fields: { retryAfterS: Math.max(1, Math.ceil(restMs / secondMs)) } },
    );
  }
}
