// How does a client's request reach an engine somewhere in the mesh?
import { cleanRequestHeaders } from "../access/forward_headers.ts";
import { OtelaError } from "../base/errors.ts";
import type { HeaderList } from "../exchange/types.ts";
import type { RequestToken } from "../metrics/request_meter.ts";
import { strangersAskedMax } from "../routing/answer_places.ts";
import { Attempts, type RetryLimits } from "../routing/attempts.ts";
import type { ServerAnswer } from "../server/types.ts";
import { answerKeptAlive } from "./forward_early.ts";
import { makePlan } from "./forward_plan.ts";
import type { ForwarderPorts } from "./forward_ports.ts";
import { ForwardProgress } from "./forward_progress.ts";
import { ForwardRun } from "./forward_run.ts";
import { forwardSocket } from "./forward_socket.ts";
import { outcomeOfProblem } from "./outcome.ts";
import { toProblem } from "./problem.ts";
import type { RequestContext } from "./request_context.ts";
import type { Forwarder } from "./target.ts";

/** Those who may have an earlier answer are asked one after the other, whatever is set for retries. */
const strangerLimits: RetryLimits = { isEnabled: true, retriesMax: strangersAskedMax - 1 };

/** The forward path of one node. */
export function createForwarder(ports: ForwarderPorts): Forwarder {
  return {
    async forward(request, target, context): Promise<ServerAnswer> {
      const token = ports.meter.started(target.service);
      const { totalTimeoutMs, keepAliveMs } = ports.limits;
      const patience = ports.deadlines.begin(totalTimeoutMs, context.receivedAtMs, nobodyWaits);
      let progress: ForwardProgress | undefined;
      try {
        const plan = await makePlan(ports, request, target, context.headers, patience);
        if (!context.isUpgrade) ports.budget.requested();
        const attempts = new Attempts({
          tiers: plan.tiers,
          isOrdered: plan.isOrdered,
          selector: ports.selector,
          book: ports.book,
          limits: plan.isHandedOnWhenMissing ? strangerLimits : ports.limits.retry,
          outliers: ports.outliers,
          isFull: ports.admission.isFull,
          blocks: plan.blocks,
        });
        const headers = engineRequestHeaders(context.headers, plan.isStream);
        if (context.isUpgrade) {
          patience.end(); // Sessions last as long as both sides want.
          return await forwardSocket(ports, request, target, { headers, attempts, token, context });
        }
        progress = new ForwardProgress(ports, {
          request,
          target,
          context,
          headers,
          plan,
          attempts,
          token,
        }, patience);
        const answered = new ForwardRun(progress).respond();
        return keepAliveMs > 0 && plan.isStream
          ? await answerKeptAlive(answered, keepAliveMs, progress)
          : await answered;
      } catch (thrown) {
        patience.end();
        throw counted(thrown, token, progress, context);
      }
    },
  };
}

function nobodyWaits(): void {}

/** A stream that was compressed on the way would arrive in lumps. */
function engineRequestHeaders(headers: HeaderList, isStream: boolean): HeaderList {
  const list = cleanRequestHeaders(headers);
  if (!isStream) return list;
  const kept: HeaderList = ["accept-encoding", "identity"];
  for (let at = 0; at < list.length; at += 2) {
    if (list[at] !== "accept-encoding") kept.push(list[at], list[at + 1]);
  }
  return kept;
}

function counted(
  thrown: unknown,
  token: RequestToken,
  progress: ForwardProgress | undefined,
  { requestId }: RequestContext,
): unknown {
  const problem = toProblem(thrown, requestId);
  token.finished(
    outcomeOfProblem(problem),
    progress?.worker,
    progress?.attemptCount ?? 0,
    problem.status,
  );
  if (!progress || !(thrown instanceof OtelaError)) return thrown;
  return progress.named(thrown);
}
