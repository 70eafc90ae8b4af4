// Who may serve a request, and what else must be known of it before anybody is asked?
import type { HeaderList } from "../exchange/types.ts";
import type { Candidate } from "../routing/types.ts";
import { blocksOf } from "../routing/prefix_index.ts";
import { selectTiers } from "../routing/select_tiers.ts";
import { ForwardBody } from "./forward_body.ts";
import type { Patience } from "./forward_deadlines.ts";
import { matchRequest, readRoutingHeaders } from "./forward_match.ts";
import type { ForwarderPorts, ForwardPlan } from "./forward_ports.ts";
import { noTier } from "./forward_refusal.ts";
import { answerIdOf, answerProbe, isStatePath, tiersForAnswer } from "./forward_state.ts";
import type { ForwardTarget } from "./target.ts";

/**
 * Reads what the request asks for, and finds who may serve it.
 * @throws {OtelaError} When nobody may, or the request cannot be understood.
 */
export async function makePlan(
  ports: ForwarderPorts,
  request: Request,
  target: ForwardTarget,
  headers: HeaderList,
  patience: Patience,
): Promise<ForwardPlan> {
  const { limits, clock, answerPlaces } = ports;
  const routing = readRoutingHeaders(headers);
  const body = await ForwardBody.of(request, routing.contentLength, limits, patience);
  const { isDebug, client, priority } = routing;
  const mayContinue = routing.mayContinue && !limits.noContinuation.has(target.service);
  const base = { body, mayContinue, isDebug, client, priority, isHandedOnWhenMissing: false };
  const { service } = target;
  const isState = isStatePath(target.path);
  const answerSeen = isState ? answerProbe(answerPlaces, clock) : undefined;
  if (target.kind !== "service") {
    const isStream = routing.isStreamAccepted;
    const only = onlyCandidate(ports, target);
    const admissionKey = () => ({ service, group: only.peer });
    const tiers = [[only]];
    return {
      ...base,
      tiers,
      isOrdered: true,
      isStream,
      admissionKey,
      blocks: undefined,
      answerSeen,
    };
  }
  const view = ports.view();
  const index = view.services.get(service);
  if (!index) throw noTier("no_such_service", service, new Map(), ports.wasClaimed);
  const { keys, isStream } = await matchRequest(body, routing, index, limits.scanBytesMax);
  const selection = selectTiers(view, {
    service,
    matchKeys: keys,
    fallbackLevel: routing.fallbackLevel,
    allowedPeers: routing.allowedPeers,
  });
  const group = () => JSON.stringify([...keys, routing.fallbackLevel, routing.allowedPeers]);
  const admissionKey = () => ({ service, group: group() });
  const answerId = isState ? answerIdOf(target, body) : undefined;
  if (answerId !== undefined) {
    const matching = selection.outcome === "tiers" ? selection.tiers : [];
    const tiers = tiersForAnswer(answerId, service, matching, {
      view,
      places: answerPlaces,
      clock,
    });
    const blocks = undefined;
    const more = { isOrdered: true, isHandedOnWhenMissing: true, admissionKey, blocks, answerSeen };
    return { ...base, tiers, isStream, ...more };
  }
  if (selection.outcome !== "tiers") {
    body.cancel();
    throw noTier(selection.outcome, service, keys, ports.wasClaimed);
  }
  const { tiers, isOrdered } = selection;
  const isPrefixWanted = ports.selectorName === "prefix" && body.isReplayable;
  const blocks = isPrefixWanted ? blocksOf(body.bytes) : undefined;
  return { ...base, tiers, isOrdered, isStream, admissionKey, blocks, answerSeen };
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
