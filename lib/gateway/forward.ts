// How does a client's request reach an engine somewhere in the mesh?
import { cleanRequestHeaders } from "../access/forward_headers.ts";
import { OtelaError } from "../base/errors.ts";
import type { HeaderList } from "../exchange/types.ts";
import type { RequestToken } from "../metrics/request_meter.ts";
import { Attempts } from "../routing/attempts.ts";
import { selectTiers } from "../routing/select_tiers.ts";
import type { Candidate } from "../routing/types.ts";
import { ForwardBody } from "./forward_body.ts";
import type { ForwarderPorts, ForwardPlan } from "./forward_ports.ts";
import { forwardSocket } from "./forward_socket.ts";
import { ForwardRun } from "./forward_run.ts";
import { matchRequest, readRoutingHeaders, type RoutingHeaders } from "./forward_match.ts";
import { noTier } from "./forward_refusal.ts";
import { outcomeOfProblem } from "./outcome.ts";
import { toProblem } from "./problem.ts";
import type { RequestContext } from "./request_context.ts";
import type { Forwarder, ForwardTarget } from "./target.ts";

/** The forward path of one node. */
export function createForwarder(ports: ForwarderPorts): Forwarder {
  return {
    async forward(request, target, context): Promise<Response> {
      const token = ports.meter.started(target.service);
      let run: ForwardRun | undefined;
      try {
        const routing = readRoutingHeaders(context.headers);
        const plan = await makePlan(ports, request, target, routing);
        const attempts = new Attempts({
          tiers: plan.tiers,
          isOrdered: plan.isOrdered,
          selector: ports.selector,
          book: ports.book,
          limits: ports.limits.retry,
        });
        const headers = engineRequestHeaders(context.headers, plan.isStream);
        if (context.isUpgrade) {
          return await forwardSocket(ports, request, target, { headers, attempts, token, context });
        }
        run = new ForwardRun(ports, { request, target, context, headers, plan, attempts, token });
        return await run.respond();
      } catch (thrown) {
        throw counted(thrown, token, run, context);
      }
    },
  };
}

async function makePlan(
  ports: ForwarderPorts,
  request: Request,
  target: ForwardTarget,
  routing: RoutingHeaders,
): Promise<ForwardPlan> {
  const { limits } = ports;
  const body = await ForwardBody.of(request, routing.contentLength, limits);
  if (target.kind !== "service") {
    const isStream = routing.isStreamAccepted;
    return { tiers: [[onlyCandidate(ports, target)]], isOrdered: true, body, isStream };
  }
  const view = ports.view();
  const index = view.services.get(target.service);
  if (!index) throw noTier("no_such_service", target.service, new Map(), ports.wasClaimed);
  const { keys, isStream } = await matchRequest(body, routing, index, limits.scanBytesMax);
  const selection = selectTiers(view, {
    service: target.service,
    matchKeys: keys,
    fallbackLevel: routing.fallbackLevel,
    allowedPeers: routing.allowedPeers,
  });
  if (selection.outcome !== "tiers") {
    body.cancel();
    throw noTier(selection.outcome, target.service, keys, ports.wasClaimed);
  }
  return { tiers: selection.tiers, isOrdered: selection.isOrdered, body, isStream };
}

/** A named peer, or this node, is asked whatever the view says of it. */
function onlyCandidate(
  ports: ForwarderPorts,
  target: Exclude<ForwardTarget, { kind: "service" }>,
): Candidate {
  const peer = target.kind === "local" ? ports.self : target.peer;
  return {
    peer,
    service: target.service,
    engine: { kind: "unknown", version: "", continues: false },
    retry: "safe",
    capacity: 0,
    isSuspect: false,
  };
}

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
  run: ForwardRun | undefined,
  { requestId }: RequestContext,
): unknown {
  const problem = toProblem(thrown, requestId);
  token.finished(outcomeOfProblem(problem), run?.worker, run?.attemptCount ?? 0, problem.status);
  if (!run || !(thrown instanceof OtelaError)) return thrown;
  return run.named(thrown);
}
