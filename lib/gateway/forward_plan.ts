// Who may serve a request, and what else must be known of it before anybody is asked?
import type { HeaderList } from "../exchange/types.ts";
import type { Candidate } from "../routing/types.ts";
import type { MatchKeys } from "../routing/identity_group.ts";
import { blocksOf } from "../routing/prefix_index.ts";
import { type RoutingRequest, selectTiers } from "../routing/select_tiers.ts";
import type { ServerRequest } from "../server/types.ts";
import { ForwardBody } from "./forward_body.ts";
import type { Patience } from "./forward_deadlines.ts";
import { matchRequest, readRoutingHeaders, type RoutingHeaders } from "./forward_match.ts";
import type { ForwarderPorts, ForwardPlan } from "./forward_ports.ts";
import { noSuchService, noTier } from "./forward_refusal.ts";
import { answerIdOf, answerProbe, isStatePath, tiersForAnswer } from "./forward_state.ts";
import type { ForwardTarget } from "./target.ts";

/**
 * Reads what the request asks for, and finds who may serve it.
 * @throws {OtelaError} When nobody may, or the request cannot be understood.
 */
export async function makePlan(
  ports: ForwarderPorts,
  request: ServerRequest,
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
  // Of a service that only lost peers offer it is still asked what the request wants: 503 or 404.
  const index = view.services.get(service) ?? view.claimed().services.get(service);
  if (!index) {
    body.cancel();
    throw noSuchService(service);
  }
  const { keys, isStream } = await matchRequest(body, routing, index, limits.scanBytesMax);
  const selection = selectTiers(view, requestFor(service, keys, routing));
  const group = () => JSON.stringify([...keys, routing.fallbackLevel, routing.allowedPeers]);
  const admissionKey = () => ({ service, group: group() });
  const isOffered = selection.outcome !== "no_such_service";
  const answerId = isState && isOffered ? answerIdOf(target, body) : undefined;
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
    const claimed = view.claimed();
    // The lost may be known by other keys than the living.
    const indexOfAll = claimed.services.get(service) ?? index;
    const all = await matchRequest(body, routing, indexOfAll, limits.scanBytesMax);
    body.cancel();
    throw noTier(selection.outcome, requestFor(service, all.keys, routing), claimed);
  }
  const { tiers, isOrdered } = selection;
  const isPrefixWanted = ports.selectorName === "prefix" && body.isReplayable;
  const blocks = isPrefixWanted ? blocksOf(body.bytes) : undefined;
  return { ...base, tiers, isOrdered, isStream, admissionKey, blocks, answerSeen };
}

function requestFor(
  service: string,
  matchKeys: MatchKeys,
  { fallbackLevel, allowedPeers }: RoutingHeaders,
): RoutingRequest {
  return { service, matchKeys, fallbackLevel, allowedPeers };
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
