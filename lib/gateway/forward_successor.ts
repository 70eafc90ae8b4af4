// Who goes on with a stream whose worker is lost, and from where?
import type { PeerId } from "../base/peer_id.ts";
import { secondMs } from "../base/units.ts";
import { AnswerBody } from "../exchange/answer_body.ts";
import {
  ExchangeError,
  type ExchangeRequestHead,
  type ExchangeResponse,
} from "../exchange/types.ts";
import type { Candidate } from "../routing/types.ts";
import type { CompletionLog } from "../usage/completion_log.ts";
import type { CompletionRequest } from "../usage/completion_request.ts";
import { closingEvents, planContinuation } from "../usage/continuation.ts";
import { Splice, spliceFactsOf } from "../usage/splice.ts";
import {
  type TokenCount,
  tokenCountOf,
  tokenizeCall,
  tokensCounted,
} from "../usage/token_count.ts";
import type { ForwarderPorts } from "./forward_ports.ts";
import { hold, isRelayable } from "./forward_answer.ts";
import type { ForwardAttempt } from "./forward_attempt.ts";

/** Counting tokens must not hold a stream up for longer. A guess. */
const tokenizeMsMax = secondMs;
const tokenizeBytesMax = 4 * 1024 * 1024;

/** A stream that broke off. */
export type BrokenStream = {
  readonly attempt: ForwardAttempt;
  /** What it said, read. */
  readonly log: CompletionLog;
  readonly request: CompletionRequest;
};

/** Who or what ends the stream. */
export type Successor =
  | {
    readonly type: "worker";
    readonly attempt: ForwardAttempt;
    readonly body: AnswerBody;
    readonly splice: Splice;
    readonly isUsageEstimated: boolean;
  }
  /** All was said: these events end the stream. */
  | {
    readonly type: "end";
    readonly events: Uint8Array<ArrayBuffer>;
    readonly isUsageEstimated: boolean;
  }
  | { readonly type: "none"; readonly why: string };

/** What the search asks of the request. */
export type SuccessorOwner = {
  /** The next of those who can go on; `undefined` when there is none. */
  next(accepts: (candidate: Candidate) => boolean): ForwardAttempt | undefined;
  /** Sends the request for the rest. @throws {ExchangeError} */
  ask(attempt: ForwardAttempt, body: Uint8Array<ArrayBuffer>): Promise<ExchangeResponse>;
};

/**
 * Finds a worker of the same tier whose engine can go on, and asks it for the rest. A worker that does not begin
 * to answer is passed over.
 */
export async function findSuccessor(
  ports: ForwarderPorts,
  broken: BrokenStream,
  owner: SuccessorOwner,
): Promise<Successor> {
  const { log, request } = broken;
  const isSaid = log.text !== "" || log.finishReason !== null;
  let tokens = tokenCountOf(log, undefined);
  const isCountWanted = request.wantsUsage || request.tokensMax !== undefined;
  for (;;) {
    const closing = closingEvents(request, log, tokens.count);
    // A limit is only reached for sure when the count is no estimate; else the engine says where the end is.
    if (closing !== undefined && (log.finishReason !== null || !tokens.isEstimated)) {
      const events = new TextEncoder().encode(closing);
      return { type: "end", events, isUsageEstimated: false };
    }
    const attempt = owner.next((candidate) =>
      !isSaid || mayGoOn(broken.attempt.candidate, candidate, request.kind)
    );
    if (!attempt) return { type: "none", why: "no other worker can go on" };
    try {
      if (isCountWanted && tokens.isEstimated) {
        tokens = await countAt(ports, attempt, broken) ?? tokens;
      }
      const plan = planContinuation(request, log, tokens.count);
      const answer = await owner.ask(attempt, plan.body);
      attempt.headArrived(answer);
      if (!isRelayable(answer) || !(answer.body instanceof AnswerBody)) {
        attempt.succeeded(answer);
        attempt.cancel("its answer is no stream");
        attempt.failed(undefined);
        continue;
      }
      attempt.began();
      const splice = new Splice(request, spliceFactsOf(log, plan));
      const isUsageEstimated = isCountWanted && tokens.isEstimated;
      return { type: "worker", attempt, body: answer.body, splice, isUsageEstimated };
    } catch (error) {
      attempt.failed(error);
      if (!(error instanceof ExchangeError) || error.failure === "canceled") {
        return { type: "none", why: "the request was given up" };
      }
    }
  }
}

/** The same kind of engine, so that text and tokens mean the same, and one that can be told the text so far. */
export function mayGoOn(first: Candidate, other: Candidate, kind: "chat" | "text"): boolean {
  if (first.engine.kind !== other.engine.kind || other.retry === "never") return false;
  if (first.engine.continues && other.engine.continues) return true;
  // Every engine takes a longer prompt, but two of unknown kinds need not be of one kind.
  return kind === "text" && first.engine.kind !== "unknown";
}

async function countAt(
  ports: ForwarderPorts,
  { peer, candidate }: { peer: PeerId; candidate: Candidate },
  { log, request }: BrokenStream,
): Promise<TokenCount | undefined> {
  const call = tokenizeCall(candidate.engine.kind, request.model, log.text);
  if (!call) return undefined;
  const head: ExchangeRequestHead = {
    service: candidate.service,
    method: "POST",
    path: call.path,
    headers: ["content-type", "application/json"],
    bodyBytes: call.body.length,
  };
  const exchange = ports.exchanger.request(peer, head, call.body);
  const timer = setTimeout(() => exchange.cancel("counting takes too long"), tokenizeMsMax);
  try {
    const { status, body } = await exchange.response;
    const held = body instanceof AnswerBody ? await hold(body, tokenizeBytesMax) : body;
    const counted = status === 200 && held instanceof Uint8Array ? tokensCounted(held) : undefined;
    return counted === undefined ? undefined : tokenCountOf(log, counted);
  } catch {
    return undefined; // Whether the worker is there shows when it is asked for the rest.
  } finally {
    clearTimeout(timer);
    exchange.cancel("counted");
  }
}
