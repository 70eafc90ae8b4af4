// Does a peer answer us, or others that ask for us?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { indirectCount, nackShare, probeTimeoutMs } from "./defaults.ts";
import type { Turn } from "./events.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Member } from "./member.ts";
import type { ProbeMessage } from "./probe_message.ts";
import type { SelfDoubt } from "./self_doubt.ts";

/** One question to one peer: directly, then through others. */
type Round = {
  readonly seq: number;
  readonly member: Member;
  readonly startedAtMs: Ms;
  isIndirect: boolean;
  deadlineMs: Ms;
  askedCount: number;
  nackCount: number;
};

/** A question that somebody else asks through us. */
type Errand = {
  readonly asker: PeerId;
  readonly askerSeq: number;
  readonly target: PeerId;
  deadlineMs: Ms;
};

/** Errands at once; a peer that asks for more gets no answer. A guess: a rack of 100 suspected by two others each. */
const errandsMax = 256;

/** What rounds need from the rest of membership. */
export type RoundPorts = {
  readonly doubt: SelfDoubt;
  readonly probe: (member: Member, seq: number, turn: Turn) => void;
  /** Peers that may hear the target, best first. */
  readonly helpersOf: (target: PeerId, countMax: number, turn: Turn) => readonly PeerId[];
  /** Others heard it. */
  readonly answered: (member: Member, incarnation: Incarnation | undefined, turn: Turn) => void;
  readonly failed: (member: Member, startedAtMs: Ms, turn: Turn) => void;
};

/** Probes that wait for their answer. At most one round a peer. */
export class Rounds {
  readonly #rounds = new Map<number, Round>();
  readonly #byPeer = new Map<PeerId, Round>();
  readonly #errands = new Map<number, Errand>();
  #seq = 0;

  constructor(private readonly ports: RoundPorts) {}

  /** When the next deadline is; `Infinity` when nothing waits. */
  get nextAtMs(): Ms {
    let next = Infinity;
    for (const { deadlineMs } of this.#rounds.values()) next = Math.min(next, deadlineMs);
    for (const { deadlineMs } of this.#errands.values()) next = Math.min(next, deadlineMs);
    return next;
  }

  isRunning(peer: PeerId): boolean {
    return this.#byPeer.has(peer);
  }

  /** Whether a question to it is so young that its own answer may be on the way. */
  mayAnswer(peer: PeerId): boolean {
    return this.#byPeer.get(peer)?.isIndirect === false;
  }

  /** Asks a peer unless that is being done. Without a connection others are asked at once. */
  start(member: Member, turn: Turn): void {
    if (this.#byPeer.has(member.peer)) return;
    const round: Round = {
      seq: this.#nextSeq(),
      member,
      startedAtMs: turn.nowMs,
      isIndirect: false,
      deadlineMs: turn.nowMs + this.#timeoutMs,
      askedCount: 0,
      nackCount: 0,
    };
    this.#rounds.set(round.seq, round);
    this.#byPeer.set(member.peer, round);
    if (member.isConnected) this.ports.probe(member, round.seq, turn);
    else this.#askOthers(round, turn);
  }

  /** The peer itself answered with this number, or was heard in any other way (`undefined`). */
  heard(
    peer: PeerId,
    seq: number | undefined,
    incarnation: Incarnation | undefined,
    turn: Turn,
  ): void {
    if (seq !== undefined) this.#endErrand(peer, seq, incarnation, turn);
    const round = this.#byPeer.get(peer);
    if (!round) return;
    this.#end(round);
    if (seq === round.seq) this.ports.doubt.eased();
  }

  /** A helper answered. */
  answered(seq: number, incarnation: Incarnation | undefined, turn: Turn): void {
    const round = this.#rounds.get(seq);
    if (!round?.isIndirect) return;
    if (incarnation) {
      this.#end(round);
      this.ports.doubt.eased();
      return this.ports.answered(round.member, incarnation, turn);
    }
    round.nackCount++;
    if (round.nackCount >= round.askedCount && !round.member.isConnected) this.#fail(round, turn);
  }

  /** Somebody asks us to ask a peer. */
  asked(
    asker: PeerId,
    askerSeq: number,
    target: Member | undefined,
    peer: PeerId,
    turn: Turn,
  ): void {
    if (!target?.isConnected || this.#errands.size >= errandsMax) {
      send(asker, { type: "answer", seq: askerSeq }, turn);
      return;
    }
    const seq = this.#nextSeq();
    const deadlineMs = turn.nowMs + nackShare * probeTimeoutMs;
    this.#errands.set(seq, { asker, askerSeq, target: peer, deadlineMs });
    this.ports.probe(target, seq, turn);
  }

  ticked(turn: Turn): void {
    for (const [seq, errand] of this.#errands) {
      if (errand.deadlineMs > turn.nowMs) continue;
      this.#errands.delete(seq);
      send(errand.asker, { type: "answer", seq: errand.askerSeq }, turn);
    }
    for (const round of [...this.#rounds.values()]) {
      if (round.deadlineMs > turn.nowMs) continue;
      if (round.isIndirect) this.#fail(round, turn);
      else this.#askOthers(round, turn);
    }
  }

  /** We were frozen: what we missed says nothing. */
  reset(): void {
    this.#rounds.clear();
    this.#byPeer.clear();
    this.#errands.clear();
  }

  forget(peer: PeerId): void {
    const round = this.#byPeer.get(peer);
    if (round) this.#end(round);
  }

  get #timeoutMs(): Ms {
    return probeTimeoutMs * this.ports.doubt.factor;
  }

  #askOthers(round: Round, turn: Turn): void {
    round.isIndirect = true;
    const helpers = this.ports.helpersOf(round.member.peer, indirectCount, turn);
    round.askedCount = helpers.length;
    round.deadlineMs = turn.nowMs + (helpers.length === 0 ? 0 : this.#timeoutMs);
    for (const helper of helpers) {
      send(helper, { type: "ask", seq: round.seq, target: round.member.peer }, turn);
    }
    if (helpers.length === 0) this.#fail(round, turn);
  }

  #fail(round: Round, turn: Turn): void {
    this.#end(round);
    // A helper that says nothing at all tells more of our own ears than of the peer's (Lifeguard §IV-A).
    if (round.nackCount < Math.max(round.askedCount, 1)) this.ports.doubt.raised();
    this.ports.failed(round.member, round.startedAtMs, turn);
  }

  #end(round: Round): void {
    this.#rounds.delete(round.seq);
    this.#byPeer.delete(round.member.peer);
  }

  #endErrand(peer: PeerId, seq: number, incarnation: Incarnation | undefined, turn: Turn): void {
    const errand = this.#errands.get(seq);
    if (errand?.target !== peer) return;
    this.#errands.delete(seq);
    send(errand.asker, { type: "answer", seq: errand.askerSeq, incarnation }, turn);
  }

  #nextSeq(): number {
    this.#seq = (this.#seq + 1) >>> 0;
    return this.#seq;
  }
}

function send(peer: PeerId, message: ProbeMessage, { effects }: Turn): void {
  effects.push({ type: "send", peer, message });
}
