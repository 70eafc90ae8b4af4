// What does one attempt leave behind in the books, however it ends?
import { headerOf } from "../base/header_list.ts";
import { type PeerId, shortPeerId } from "../base/peer_id.ts";
import {
  type BodyStream,
  type Exchange,
  ExchangeError,
  type ExchangeRequestHead,
  type ExchangeResponse,
  type HeaderList,
} from "../exchange/types.ts";
import type { Attempt } from "../routing/attempts.ts";
import type { LoadTicket } from "../routing/load_book.ts";
import { isBusyStatus, isEngineFailure, isUnreachableFailure } from "../routing/retry.ts";
import { restMsOf } from "../routing/retry_after.ts";
import type { RetryTicket } from "../routing/retry_budget.ts";
import type { Candidate } from "../routing/types.ts";
import type { ForwarderPorts } from "./forward_ports.ts";
import { type BodyEnd, ForwardObserver, type ObservedRequest } from "./forward_observer.ts";

/**
 * One forward of a request: takes its place in the books when it begins and gives everything back exactly once,
 * in whatever order answer, end and failure come.
 */
export class ForwardAttempt {
  observer: ForwardObserver | undefined;
  exchange: Exchange | undefined;
  private readonly ticket: LoadTicket;
  private readonly retry: RetryTicket | undefined;
  private end: BodyEnd | undefined;
  private onEnd: ((end: BodyEnd) => void) | undefined;
  private isJudged = false;

  /** @param isRetry Whether it is one more than the request needed. */
  constructor(
    private readonly ports: ForwarderPorts,
    readonly attempt: Attempt,
    isRetry: boolean,
  ) {
    this.ticket = ports.book.started(attempt.candidate, ports.clock.nowMs());
    this.retry = isRetry ? ports.budget.started() : undefined;
  }

  get candidate(): Candidate {
    return this.attempt.candidate;
  }

  get peer(): PeerId {
    return this.attempt.candidate.peer;
  }

  /**
   * Sends the request.
   * @returns The answer's head.
   * @throws {ExchangeError}
   */
  ask(
    head: ExchangeRequestHead,
    body: Uint8Array<ArrayBuffer> | null | BodyStream,
    about: (status: number, headers: HeaderList) => ObservedRequest,
  ): Promise<ExchangeResponse> {
    this.exchange = this.ports.exchanger.request(this.peer, head, body, (status, headers) => {
      this.observer = new ForwardObserver(status, headers, about(status, headers), (end) => {
        this.finished();
        if (this.onEnd) this.onEnd(end);
        else this.end = end;
      });
      return this.observer;
    });
    return this.exchange.response;
  }

  /** The head of its answer is here. */
  headArrived({ status }: ExchangeResponse): void {
    // A worker that fails fast must not look fast.
    if (status < 500) this.ticket.headArrived(this.ports.clock.nowMs());
  }

  /** Its answer is the request's: whoever is given hears how the body ends, also if it has ended already. */
  accept(onEnd: (end: BodyEnd) => void): void {
    this.onEnd = onEnd;
    if (this.end) onEnd(this.end);
  }

  /** The engine has answered. */
  succeeded(answer: ExchangeResponse): void {
    if (this.isJudged) return;
    this.isJudged = true;
    const { book, clock, outliers, wallClock } = this.ports;
    const nowMs = clock.nowMs();
    if (isBusyStatus(answer.status)) {
      outliers.undecided(this.candidate);
      const restMs = restMsOf(headerOf(answer.headers, "retry-after"), wallClock());
      book.failed(this.candidate, nowMs, restMs);
      return this.retry?.failed();
    }
    outliers.succeeded(this.candidate, nowMs);
    // Its own word, but if others do better they are asked first for a moment.
    if (answer.status >= 500) book.failed(this.candidate, nowMs);
    this.retry?.succeeded();
  }

  /** The engine has begun a stream, whose end is `completed` or `broke`. */
  began(): void {
    if (this.isJudged) return;
    this.isJudged = true;
    this.ports.outliers.began(this.candidate, this.ports.clock.nowMs());
    this.retry?.succeeded();
  }

  /** The stream that it began is whole. */
  completed(): void {
    this.ports.outliers.succeeded(this.candidate, this.ports.clock.nowMs());
  }

  /** It ended without an answer that counts; gives its place back. */
  failed(error: unknown): void {
    this.finished();
    if (this.isJudged) return;
    this.isJudged = true;
    if (!(error instanceof ExchangeError)) {
      this.ports.outliers.undecided(this.candidate);
      return this.retry?.succeeded();
    }
    // Nobody had any work with what never left this node, and nothing failed when we gave it up.
    if (error.phase === "not_sent" || error.failure === "canceled") this.retry?.succeeded();
    else this.retry?.failed();
    this.note(error);
  }

  /** Its answer had begun, and broke off. */
  broke(error: ExchangeError): void {
    this.finished();
    this.note(error);
  }

  /** Nobody wants its answer any more. */
  cancel(reason: string): void {
    this.exchange?.cancel(reason);
  }

  /** As logs name its worker. */
  get workerName(): string {
    return shortPeerId(this.peer);
  }

  private note(error: ExchangeError): void {
    const { book, clock, outliers } = this.ports;
    if (isUnreachableFailure(error.failure)) {
      book.failed(this.candidate, clock.nowMs());
      outliers.lost(this.candidate);
    } else if (isEngineFailure(error.failure)) outliers.failed(this.candidate, clock.nowMs());
    else outliers.undecided(this.candidate);
  }

  private finished(): void {
    this.ticket.finished();
    this.ports.admission.freed(this.candidate.service);
  }
}
