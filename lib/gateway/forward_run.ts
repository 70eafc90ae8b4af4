// How is one request tried until a worker answers it?
import { OtelaError } from "../base/errors.ts";
import { type PeerId, shortPeerId } from "../base/peer_id.ts";
import {
  type Exchange,
  ExchangeError,
  type ExchangeRequestHead,
  type ExchangeResponse,
  type HeaderList,
} from "../exchange/types.ts";
import type { RequestToken } from "../metrics/request_meter.ts";
import type { Attempt, Attempts } from "../routing/attempts.ts";
import type { LoadTicket } from "../routing/load_book.ts";
import { decideRetry, isUnreachableFailure } from "../routing/retry.ts";
import type { Candidate } from "../routing/types.ts";
import type { ForwarderPorts, ForwardPlan } from "./forward_ports.ts";
import { hold, mayHold, toResponse } from "./forward_answer.ts";
import { type BodyEnd, ForwardObserver } from "./forward_observer.ts";
import type { RequestContext } from "./request_context.ts";
import type { ForwardTarget } from "./target.ts";

/** Everything about the request that does not change between attempts. */
export type ForwardFacts = {
  readonly request: Request;
  readonly target: ForwardTarget;
  readonly context: RequestContext;
  readonly headers: HeaderList;
  readonly plan: ForwardPlan;
  readonly attempts: Attempts;
  readonly token: RequestToken;
};

/** One request on its way: attempts one after another, then the answer. */
export class ForwardRun {
  /** Who was asked last. */
  worker: PeerId | undefined;
  private exchange: Exchange | undefined;
  private isClientGone = false;
  private isHolding = false;
  private status = 0;

  constructor(private readonly ports: ForwarderPorts, private readonly facts: ForwardFacts) {}

  get attemptCount(): number {
    return this.facts.attempts.count;
  }

  /**
   * @returns The answer of the first worker that gave one.
   * @throws {OtelaError} When nobody did; nothing has been sent to the client then.
   */
  async respond(): Promise<Response> {
    const { request, plan } = this.facts;
    const answered = this.ports.sweep.watch(request, () => this.clientGone());
    try {
      return await this.tryAll();
    } catch (error) {
      plan.body.cancel();
      throw error;
    } finally {
      answered();
    }
  }

  /** The error with what the access log wants to know of the request. */
  named(error: OtelaError): OtelaError {
    const fields = {
      attempts: this.attemptCount,
      worker: this.worker ? shortPeerId(this.worker) : "",
    };
    return error instanceof ExchangeError
      ? new ExchangeError(error.failure, error.phase, error.message, error.cause, fields)
      : new OtelaError(error.code, error.message, {
        cause: error.cause,
        fields: { ...error.fields, ...fields },
      });
  }

  private async tryAll(): Promise<Response> {
    const { attempts, plan } = this.facts;
    const { clock } = this.ports;
    let failed: ExchangeError | undefined;
    for (;;) {
      const attempt = attempts.next(clock.nowMs());
      if (!attempt) throw failed ?? new OtelaError("no_candidate", "Cannot ask anybody");
      try {
        return await this.tryOne(attempt);
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        failed = error;
        this.note(attempt.candidate, error);
        if (error.phase === "not_sent") attempts.unreached();
        const decision = decideRetry({
          phase: error.phase,
          failure: error.failure,
          isReplayable: plan.body.isReplayable,
          isClientGone: this.isClientGone,
        });
        if (decision !== "retry") throw error;
      }
    }
  }

  private async tryOne({ candidate }: Attempt): Promise<Response> {
    const { request, target, plan, headers } = this.facts;
    const { clock, book, exchanger, limits } = this.ports;
    this.worker = candidate.peer;
    const ticket = book.started(candidate, clock.nowMs());
    const head: ExchangeRequestHead = {
      service: target.service,
      method: request.method,
      path: target.path,
      headers,
      bodyBytes: plan.body.lengthBytes,
    };
    try {
      this.exchange = exchanger.request(
        candidate.peer,
        head,
        plan.body.forAttempt(),
        (status, list) => this.observer(status, list, ticket),
      );
      const answer = await this.exchange.response;
      this.status = answer.status;
      // A worker that fails fast must not look fast.
      if (answer.status < 500) ticket.headArrived(clock.nowMs());
      const body = await this.bodyOf(answer, limits.holdBytesMax);
      return toResponse(answer, body, {
        method: request.method,
        worker: candidate.peer,
        publicPrefix: target.publicPrefix,
      });
    } catch (error) {
      ticket.finished();
      throw error;
    }
  }

  private async bodyOf(
    answer: ExchangeResponse,
    holdBytesMax: number,
  ): Promise<ExchangeResponse["body"]> {
    const { body } = answer;
    if (!(body instanceof ReadableStream) || !mayHold(answer, holdBytesMax)) return body;
    this.isHolding = true;
    const held = await hold(body, holdBytesMax);
    this.isHolding = false;
    return held;
  }

  private observer(status: number, list: HeaderList, ticket: LoadTicket): ForwardObserver {
    const { token, context } = this.facts;
    this.status = status;
    const about = { token, clock: this.ports.clock, requestId: context.requestId };
    return new ForwardObserver(status, list, about, (end) => {
      ticket.finished();
      this.ended(end);
    });
  }

  private ended(end: BodyEnd): void {
    const { token, request, target, context } = this.facts;
    // A held body that breaks off is thrown to the door, which writes it down.
    if (this.isHolding && end.outcome !== "ok" && end.outcome !== "engine_error") return;
    token.finished(end.outcome, this.worker, this.attemptCount, this.status);
    const { accessLog, clock } = this.ports;
    if (!accessLog.wants(end.outcome)) return;
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
      code: end.code,
    });
  }

  private note(candidate: Candidate, error: ExchangeError): void {
    if (isUnreachableFailure(error.failure)) {
      this.ports.book.failed(candidate, this.ports.clock.nowMs());
    }
  }

  private clientGone(): void {
    this.isClientGone = true;
    this.exchange?.cancel("the client went away");
  }
}
