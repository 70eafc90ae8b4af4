// Where does a request go that builds on an earlier answer?
import type { Clock } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB } from "../base/units.ts";
import {
  answerIdOfPath,
  answerIdOfText,
  type AnswerPlaces,
  previousAnswerId,
  strangersAskedMax,
} from "../routing/answer_places.ts";
import type { Candidate } from "../routing/types.ts";
import type { RoutingView } from "../routing/view.ts";
import type { ForwardBody } from "./forward_body.ts";
import type { ForwardTarget } from "./target.ts";

/** Engines write an answer's id within its first bytes. A guess, far above what was seen. */
const probeBytesMax: Bytes = 4 * KiB;

const root = "/v1/responses";

/** Whether a path is one of those that keep state on a worker. */
export function isStatePath(path: string): boolean {
  return path.startsWith(root) && /^[/?#]?$/.test(path.charAt(root.length));
}

/** The id of the earlier answer that a request speaks of; `undefined` when it speaks of none. */
export function answerIdOf(target: ForwardTarget, body: ForwardBody): string | undefined {
  const fromPath = answerIdOfPath(target.path);
  if (fromPath !== undefined || !body.isReplayable) return fromPath;
  return previousAnswerId(new TextDecoder().decode(body.bytes));
}

/**
 * The candidates for a request about an earlier answer: who gave it, else a few of those who might have.
 * @param tiers Who serves what the request asks for; empty when it asks for nothing, as a GET.
 */
export function tiersForAnswer(
  id: string,
  service: string,
  tiers: readonly (readonly Candidate[])[],
  { view, places, clock }: { view: RoutingView; places: AnswerPlaces; clock: Clock },
): readonly (readonly Candidate[])[] {
  const all = everyCandidate(view, service);
  const place = places.find(id, clock.nowMs());
  const known = place === undefined ? undefined : all.get(place);
  if (known) return [[known]];
  const others = tiers.length > 0 ? tiers.flat() : [...all.values()];
  return [others.slice(0, strangersAskedMax)];
}

/** Notes the id of an answer that passes by. */
export function answerProbe(
  places: AnswerPlaces,
  clock: Clock,
): (peer: PeerId) => (chunk: Uint8Array) => void {
  return (peer) => {
    const decoder = new TextDecoder();
    let text: string | undefined = "";
    return (chunk) => {
      if (text === undefined) return;
      text += decoder.decode(chunk.subarray(0, probeBytesMax), { stream: true });
      const id = answerIdOfText(text);
      if (id !== undefined) places.seen(id, peer, clock.nowMs());
      if (id !== undefined || text.length >= probeBytesMax) text = undefined;
    };
  };
}

/** Each peer of a service once, whatever it serves there, in the order of PeerIds. */
function everyCandidate(view: RoutingView, service: string): Map<PeerId, Candidate> {
  const found = new Map<PeerId, Candidate>();
  const index = view.services.get(service);
  if (!index) return found;
  const lists = [
    ...[...index.exact.values()].flatMap((byValue) => [...byValue.values()]),
    ...index.wildcard.values(),
    index.all,
  ];
  for (const candidate of lists.flat()) found.set(candidate.peer, candidate);
  return new Map([...found].sort(([a], [b]) => a < b ? -1 : 1));
}
