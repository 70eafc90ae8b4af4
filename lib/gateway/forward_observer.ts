// What happens while the body of an answer passes by?
import type { Bytes, Ms } from "../base/units.ts";
import type { Clock } from "../base/ports.ts";
import type { AnswerObserver, ExchangeError, HeaderList } from "../exchange/types.ts";
import type { RequestOutcome, RequestToken } from "../metrics/request_meter.ts";
import { StreamTap } from "../usage/stream_tap.ts";
import { headerOf, isEventStream } from "./forward_answer.ts";
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

/**
 * Counts the bytes of one answer, notes an error that the engine reports inside its stream, and tells the
 * client in its own terms when a stream breaks off.
 */
export class ForwardObserver implements AnswerObserver {
  private readonly tap: StreamTap | undefined;
  private readonly isLines: boolean;
  private bodyBytes: Bytes = 0;
  private firstByteAtMs: Ms | -1 = -1;

  constructor(
    private readonly status: number,
    headers: HeaderList,
    private readonly about: { token: RequestToken; clock: Clock; requestId: string },
    private readonly onEnd: (end: BodyEnd) => void,
  ) {
    const isEncoded = headerOf(headers, "content-encoding") !== "";
    this.isLines = !headerOf(headers, "content-type").includes("event-stream");
    this.tap = isEventStream(headers) && !isEncoded ? new StreamTap(this.isLines) : undefined;
  }

  chunk(chunk: Uint8Array): void {
    if (this.firstByteAtMs === -1) {
      this.firstByteAtMs = this.about.clock.nowMs();
      this.about.token.firstByte();
    }
    this.bodyBytes += chunk.length;
    this.tap?.push(chunk);
  }

  tail(error: ExchangeError): Uint8Array<ArrayBuffer> | undefined {
    if (!this.tap) return undefined;
    const { message, code } = toProblem(error, this.about.requestId);
    const json = JSON.stringify({ error: { message, type: "server_error", code, param: null } });
    // A half-sent event is ended first, so that the error stands in one of its own.
    const before = this.tap.isAtBoundary ? "" : this.isLines ? "\n" : "\n\n";
    return new TextEncoder().encode(
      this.isLines ? `${before}${json}\n` : `${before}data: ${json}\n\n`,
    );
  }

  ended(end: "whole" | "canceled" | ExchangeError): void {
    const { bodyBytes, firstByteAtMs } = this;
    if (end === "whole") {
      const outcome = this.tap?.sawError ? "engine_error" : outcomeOfStatus(this.status);
      return this.onEnd({ outcome, code: "", bodyBytes, firstByteAtMs });
    }
    if (end === "canceled") {
      return this.onEnd({ outcome: "client_gone", code: "canceled", bodyBytes, firstByteAtMs });
    }
    const { code } = toProblem(end, this.about.requestId);
    const outcome = code === "timed_out" ? "timed_out" : "worker_failed";
    this.onEnd({ outcome, code, bodyBytes, firstByteAtMs });
  }
}
