// How does a WebSocket find its worker?
import { OtelaError } from "../base/errors.ts";
import { type PeerId, shortPeerId } from "../base/peer_id.ts";
import { AnswerBody } from "../exchange/answer_body.ts";
import { ExchangeError, type HeaderList, type SocketOpening } from "../exchange/types.ts";
import type { RequestToken } from "../metrics/request_meter.ts";
import type { Attempts } from "../routing/attempts.ts";
import { decideRetry } from "../routing/retry.ts";
import type { ServerAnswer, ServerRequest } from "../server/types.ts";
import type { ForwarderPorts } from "./forward_ports.ts";
import { toResponse } from "./forward_answer.ts";
import type { RequestContext } from "./request_context.ts";
import type { ForwardTarget } from "./target.ts";
import { bridgeSocket } from "./web_socket.ts";

/** Everything about the request that does not change between attempts. */
export type SocketFacts = {
  readonly headers: HeaderList;
  readonly attempts: Attempts;
  readonly token: RequestToken;
  readonly context: RequestContext;
};

/**
 * Opens a WebSocket at the first worker that can be reached, then at the client.
 * @returns The upgrade, or the engine's refusal.
 * @throws {OtelaError} As `bridgeSocket`, or when no worker could be reached.
 */
export async function forwardSocket(
  ports: ForwarderPorts,
  request: ServerRequest,
  target: ForwardTarget,
  facts: SocketFacts,
): Promise<ServerAnswer> {
  const { token, attempts } = facts;
  const opening = new SocketSearch(ports, request, target, facts);
  return await bridgeSocket(request, {
    open: (signal) => opening.open(signal),
    refused: (response) => {
      token.finished("ok", opening.worker, attempts.count, response.status);
      const { body } = response;
      return toResponse(response, body instanceof AnswerBody ? body.stream() : body, {
        method: request.method,
        worker: opening.worker!,
        publicPrefix: target.publicPrefix,
      });
    },
    closed: () => opening.closed(),
  });
}

class SocketSearch {
  worker: PeerId | undefined;
  private ticket: { finished(): void } | undefined;

  constructor(
    private readonly ports: ForwarderPorts,
    private readonly request: ServerRequest,
    private readonly target: ForwardTarget,
    private readonly facts: SocketFacts,
  ) {}

  async open(signal: AbortSignal): Promise<SocketOpening> {
    const { attempts } = this.facts;
    const { clock, exchanger, book, outliers } = this.ports;
    let failed: ExchangeError | undefined;
    for (;;) {
      const attempt = attempts.next(clock.nowMs());
      if (!attempt) throw failed ?? this.nobody();
      this.worker = attempt.candidate.peer;
      this.ticket = book.started(attempt.candidate, clock.nowMs());
      try {
        const opening = await exchanger.openSocket(this.worker, this.head(), signal);
        outliers.succeeded(attempt.candidate, clock.nowMs());
        if (!opening.opened) this.finished();
        return opening;
      } catch (error) {
        this.finished();
        outliers.undecided(attempt.candidate);
        if (!(error instanceof ExchangeError)) throw error;
        failed = error;
        if (error.phase === "not_sent") attempts.unreached();
        const decision = decideRetry({
          phase: error.phase,
          failure: error.failure,
          isReplayable: true,
          isClientGone: signal.aborted,
          // A handshake that an engine has seen may have begun a session.
          policy: "never",
          hasAnswerBegun: false,
          isWithinBudget: true,
        });
        if (decision !== "retry") throw error;
      }
    }
  }

  closed(): void {
    this.finished();
    const { attempts, token, context } = this.facts;
    token.finished("ok", this.worker, attempts.count, 101);
    const { accessLog, clock } = this.ports;
    if (!accessLog.wants("ok")) return;
    accessLog.write({
      requestId: context.requestId,
      method: this.request.method,
      path: `${this.target.publicPrefix}${this.target.path}`.replace(/[?#].*$/s, ""),
      status: 101,
      service: this.target.service,
      worker: this.worker ? shortPeerId(this.worker) : "",
      attempts: attempts.count,
      durationMs: clock.nowMs() - context.receivedAtMs,
      firstByteMs: -1,
      bodyBytes: 0,
      outcome: "ok",
      continuations: 0,
      isUsageEstimated: false,
      code: "",
    });
  }

  private finished(): void {
    this.ticket?.finished();
    this.ports.admission.freed(this.target.service);
  }

  /** A session would hold its place for hours, so none waits for one. */
  private nobody(): OtelaError {
    if (this.facts.attempts.blocked === "full") {
      return new OtelaError("too_many_requests", "Cannot open a session as all workers are full");
    }
    return new OtelaError("no_candidate", "Cannot ask anybody");
  }

  private head() {
    const { target } = this;
    const { headers } = this.facts;
    const { method } = this.request;
    return { service: target.service, method, path: target.path, headers, bodyBytes: 0 };
  }
}
