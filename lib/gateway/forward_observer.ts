// What happens while the body of an answer passes by?
import { headerOf } from "../base/header_list.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { Clock } from "../base/ports.ts";
import type { AnswerObserver, ExchangeError, HeaderList } from "../exchange/types.ts";
import type { RequestOutcome, RequestToken } from "../metrics/request_meter.ts";
import { StreamTap } from "../usage/stream_tap.ts";
import { isEventStream } from "./forward_answer.ts";
import { outcomeOfStatus } from "./outcome.ts";
import { toProblem } from "./problem.ts";

/** How the body of an answer ended. */
export type BodyEnd = {
  readonly outcome: RequestOutcome;
  /** The error's code; empty when there was none. */
  readonly code: string;
  readonly bodyBytes: Bytes;
  readonly firstByteAtMs: Ms | -1;
};

/** What an observer is told of its request. */
export type ObservedRequest = {
  readonly token: RequestToken;
  readonly clock: Clock;
  readonly requestId: string;
  /** Another worker may go on where this one breaks off, so that a break is not for this observer to tell. */
  readonly isContinued: boolean;
  /** An error as the client should hear of it. */
  readonly reasonOf: (error: ExchangeError) => ExchangeError;
  /** Sees the body's bytes first. */
  readonly onChunk: ((chunk: Uint8Array) => void) | undefined;
};

/**
 * Counts the bytes of one answer, notes an error that the engine reports inside its stream, and tells the
 * client in its own terms when a stream breaks off.
 */
export class ForwardObserver implements AnswerObserver {
  /** Why the body broke off; "whole" when it did not. */
  end: "whole" | "canceled" | ExchangeError | undefined;
  bodyBytes: Bytes = 0;
  private readonly tap: StreamTap | undefined;
  private readonly isLines: boolean;
  firstByteAtMs: Ms | -1 = -1;
  private onBegun: (() => void) | undefined;

  constructor(
    private readonly status: number,
    headers: HeaderList,
    private readonly about: ObservedRequest,
    private readonly onEnd: (end: BodyEnd) => void,
  ) {
    const isEncoded = headerOf(headers, "content-encoding") !== "";
    this.isLines = !headerOf(headers, "content-type").includes("event-stream");
    this.tap = isEventStream(headers) && !isEncoded ? new StreamTap(this.isLines) : undefined;
  }

  /** Settles at the body's first byte, or at its end when there is none. */
  begun(): Promise<void> | undefined {
    if (this.firstByteAtMs !== -1 || this.end !== undefined) return undefined;
    return new Promise((resolve) => {
      this.onBegun = resolve;
    });
  }

  chunk(chunk: Uint8Array): void {
    if (this.firstByteAtMs === -1) {
      this.firstByteAtMs = this.about.clock.nowMs();
      this.about.token.firstByte();
      this.onBegun?.();
    }
    this.bodyBytes += chunk.length;
    this.about.onChunk?.(chunk);
    this.tap?.push(chunk);
  }

  tail(error: ExchangeError): Uint8Array<ArrayBuffer> | undefined {
    // Nothing has gone to the client when nothing came: then the answer itself can be an error.
    if (!this.tap || this.firstByteAtMs === -1 || this.about.isContinued) return undefined;
    const event = errorEvent(this.about.reasonOf(error), this.about.requestId, this.isLines);
    // A half-sent event is ended first, so that the error stands in one of its own.
    const before = this.tap.isAtBoundary ? "" : this.isLines ? "\n" : "\n\n";
    return new TextEncoder().encode(before + event);
  }

  ended(end: "whole" | "canceled" | ExchangeError): void {
    this.end = end;
    this.onBegun?.();
    const { bodyBytes, firstByteAtMs } = this;
    if (end === "whole") {
      const outcome = this.sawError ? "engine_error" : outcomeOfStatus(this.status);
      return this.onEnd({ outcome, code: "", bodyBytes, firstByteAtMs });
    }
    if (end === "canceled") {
      return this.onEnd({ outcome: "client_gone", code: "canceled", bodyBytes, firstByteAtMs });
    }
    this.onEnd({
      ...brokenEnd(this.about.reasonOf(end), this.about.requestId),
      bodyBytes,
      firstByteAtMs,
    });
  }

  /** Whether the engine said inside its stream that it failed. */
  get sawError(): boolean {
    return this.tap?.sawError ?? false;
  }
}

/** How a request ends whose answer broke off. */
export function brokenEnd(
  error: ExchangeError,
  requestId: string,
): Pick<BodyEnd, "outcome" | "code"> {
  const { code } = toProblem(error, requestId);
  return { outcome: code === "timed_out" ? "timed_out" : "worker_failed", code };
}

/** An error as an event of a stream, in OpenAI's form, which its clients throw. */
export function errorEvent(error: ExchangeError, requestId: string, isLines: boolean): string {
  const { message, code } = toProblem(error, requestId);
  const json = JSON.stringify({ error: { message, type: "server_error", code, param: null } });
  return isLines ? `${json}\n` : `data: ${json}\n\n`;
}
