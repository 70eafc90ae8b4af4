// How far has one request come, and what is written down of it?
import { OtelaError } from "../base/errors.ts";
import { type PeerId, shortPeerId } from "../base/peer_id.ts";
import { ExchangeError, type ExchangeRequestHead, type HeaderList } from "../exchange/types.ts";
import type { RequestToken } from "../metrics/request_meter.ts";
import type { Attempts } from "../routing/attempts.ts";
import { explainTiers } from "../routing/explain.ts";
import type { ServerRequest } from "../server/types.ts";
import type { ForwardAttempt } from "./forward_attempt.ts";
import type { Patience } from "./forward_deadlines.ts";
import type { BodyEnd, ObservedRequest } from "./forward_observer.ts";
import type { ForwarderPorts, ForwardPlan } from "./forward_ports.ts";
import type { RequestContext } from "./request_context.ts";
import type { ForwardTarget } from "./target.ts";

/** Everything about the request that does not change between attempts. */
export type ForwardFacts = {
  readonly request: ServerRequest;
  readonly target: ForwardTarget;
  readonly context: RequestContext;
  readonly headers: HeaderList;
  readonly plan: ForwardPlan;
  readonly attempts: Attempts;
  readonly token: RequestToken;
};

/** Candidates in the debug header. A guess: about 4 KiB. */
const routesShownMax = 16;

/** One request: who has it at present, the limits it is under, and how it ends. */
export class ForwardProgress {
  /** Who was asked last. */
  worker: PeerId | undefined;
  isClientGone = false;
  /** Of the answer that came last; 0 when none did. */
  status = 0;
  /** While it waits for a place: gives that up. */
  leaveQueue: (() => void) | undefined;
  /** A limit of ours that passed, in words. */
  lateness: string | undefined;
  /** The limit was on the whole request. */
  isTimeOver = false;
  private current: ForwardAttempt | undefined;
  private continuationCount = 0;
  private isUsageEstimated = false;

  constructor(
    readonly ports: ForwarderPorts,
    readonly facts: ForwardFacts,
    readonly patience: Patience,
  ) {
    const expired = (why: string, isTotal: boolean) => this.expired(why, isTotal);
    patience.expired = expired;
  }

  get attemptCount(): number {
    return this.facts.attempts.count;
  }

  /** How often its stream may go on elsewhere. */
  get continuationsMax(): number {
    if (this.isTimeOver || !this.facts.plan.mayContinue) return 0;
    return this.ports.limits.continuationsMax;
  }

  /** The error with what the access log wants to know of the request, and whether its client may ask again. */
  named(error: OtelaError): OtelaError {
    const fields = {
      attempts: this.attemptCount,
      worker: this.worker ? shortPeerId(this.worker) : "",
      mayRepeat: this.mayRepeat(error),
    };
    return error instanceof ExchangeError
      ? new ExchangeError(error.failure, error.phase, error.message, error.cause, fields)
      : new OtelaError(error.code, error.message, {
        cause: error.cause,
        fields: { ...error.fields, ...fields },
      });
  }

  /** Begins an attempt that the books know of. */
  begin(attempt: ForwardAttempt): ForwardAttempt {
    this.worker = attempt.peer;
    this.current = attempt;
    return attempt;
  }

  /** The request's head for an engine. */
  head(bodyBytes: number): ExchangeRequestHead {
    const { request, target, headers } = this.facts;
    return {
      service: target.service,
      method: request.method,
      path: target.path,
      headers,
      bodyBytes,
    };
  }

  /** What an observer of an answer is told. */
  observed(isContinued: boolean): ObservedRequest {
    const { token, context, plan } = this.facts;
    const { peer } = this.current!;
    return {
      token,
      clock: this.ports.clock,
      requestId: context.requestId,
      isContinued,
      reasonOf: (error) => this.reasonOf(error),
      onChunk: plan.answerSeen?.(peer),
    };
  }

  /** An error as the client should hear of it: what we gave up because it was late is not canceled. */
  reasonOf(error: ExchangeError): ExchangeError {
    if (error.failure !== "canceled" || this.lateness === undefined) return error;
    return new ExchangeError("engine_timed_out", error.phase, this.lateness, error.cause);
  }

  /** The answer is over: counts the request and writes it down. */
  ended(end: BodyEnd): void {
    this.patience.end();
    const { token, request, target, context } = this.facts;
    token.finished(end.outcome, this.worker, this.attemptCount, this.status);
    const { accessLog, clock } = this.ports;
    if (!accessLog.wants(end.outcome) && this.continuationCount === 0) return;
    const firstByteMs = end.firstByteAtMs === -1 ? -1 : end.firstByteAtMs - context.receivedAtMs;
    accessLog.write({
      requestId: context.requestId,
      method: request.method,
      path: `${target.publicPrefix}${target.path}`.replace(/[?#].*$/s, ""),
      status: this.status,
      service: target.service,
      worker: this.worker ? shortPeerId(this.worker) : "",
      attempts: this.attemptCount,
      durationMs: clock.nowMs() - context.receivedAtMs,
      firstByteMs,
      bodyBytes: end.bodyBytes,
      outcome: end.outcome,
      continuations: this.continuationCount,
      isUsageEstimated: this.isUsageEstimated,
      code: end.code,
    });
  }

  /** Its stream goes on at another worker. @param worker Empty when only the end was missing. */
  continued(isUsageEstimated: boolean, worker: string): void {
    this.continuationCount++;
    this.isUsageEstimated ||= isUsageEstimated;
    this.facts.token.continued("continued", isUsageEstimated);
    const { requestId } = this.facts.context;
    this.ports.log.info("stream.continued", { requestId, worker, isUsageEstimated });
  }

  /** Its stream broke off and nobody goes on. */
  notContinued(why: string): void {
    this.facts.token.continued("failed", false);
    this.ports.log.info("stream.broken", { requestId: this.facts.context.requestId, why });
  }

  /** The client has left, before or while it was answered. */
  clientGone(): void {
    this.isClientGone = true;
    this.leaveQueue?.();
    this.current?.cancel("the client went away");
  }

  /** For the debug header: as much as fits. */
  route(): string {
    const { book, outliers, weightOf, admission, clock, selectorName } = this.ports;
    const parts = { book, outliers, weightOf, isFull: admission.isFull };
    const candidates = explainTiers(this.facts.plan.tiers, parts, clock.nowMs());
    return JSON.stringify({
      policy: selectorName,
      candidates: candidates.slice(0, routesShownMax),
    });
  }

  /** Not when the engine may have begun what its service wants done at most once. */
  private mayRepeat(error: OtelaError): boolean {
    if (this.current?.candidate.retry !== "never" || !(error instanceof ExchangeError)) return true;
    return error.phase === "not_sent" || error.phase === "refused";
  }

  private expired(why: string, isTotal: boolean): void {
    this.lateness = why;
    this.isTimeOver ||= isTotal;
    this.current?.cancel(why);
  }
}
