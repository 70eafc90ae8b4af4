// Which worker holds the answer with this id?
import type { PeerId } from "../base/peer_id.ts";
import { hourMs, type Ms } from "../base/units.ts";

/** Ids remembered, about 200 bytes each; the oldest make room. A guess. */
export const answerPlacesMax = 100_000;
/** For so long an id is remembered (issue 6); engines keep answers for less. */
export const answerPlaceMsMax: Ms = 24 * hourMs;
/** Candidates asked one after another for an id that nobody here has seen (issue 6). */
export const strangersAskedMax = 8;

/** An id that may stand for an answer: what engines make is shorter and plainer. */
const answerId = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

/**
 * The id in a path below `/v1/responses/`.
 * @param path Raw path and query, as for the engine.
 * @returns `undefined` when the path names none.
 */
export function answerIdOfPath(path: string): string | undefined {
  const match = /^\/v1\/responses\/([^/?#]+)/.exec(path);
  return match && answerId.test(match[1]) ? match[1] : undefined;
}

/**
 * The answer's own id, from the first part of an answer of `/v1/responses`, JSON or events: the first `"id"` whose
 * value begins as ids of answers do, since ids of messages within it begin otherwise.
 * @param text A few KiB suffice; engines write the id first.
 */
export function answerIdOfText(text: string): string | undefined {
  return /"id"\s*:\s*"(resp[A-Za-z0-9_.:-]{1,124})"/.exec(text)?.[1];
}

/**
 * The `previous_response_id` of a request's body.
 * @param text The whole body, untrusted.
 * @returns `undefined` when there is none, or the body is no JSON: then the engine says so.
 */
export function previousAnswerId(text: string): string | undefined {
  if (!text.includes('"previous_response_id"')) return undefined;
  try {
    const { previous_response_id: id } = JSON.parse(text) as { previous_response_id?: unknown };
    return typeof id === "string" && answerId.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers which peer gave which answer, for requests that build on it. Bounded in number and age. */
export class AnswerPlaces {
  /** In the order of age. */
  readonly #places = new Map<string, { readonly peer: PeerId; readonly atMs: Ms }>();

  constructor(private readonly placesMax: number = answerPlacesMax) {}

  /** An answer with this id came from this peer. */
  seen(id: string, peer: PeerId, nowMs: Ms): void {
    this.#places.delete(id);
    this.#places.set(id, { peer, atMs: nowMs });
    if (this.#places.size <= this.placesMax) return;
    this.#places.delete(this.#places.keys().next().value!);
  }

  /** Who has the answer; `undefined` when nobody is known to. */
  find(id: string, nowMs: Ms): PeerId | undefined {
    const place = this.#places.get(id);
    if (!place) return undefined;
    if (nowMs - place.atMs < answerPlaceMsMax) return place.peer;
    this.#places.delete(id);
    return undefined;
  }

  /** Ids remembered. */
  get size(): number {
    return this.#places.size;
  }
}
