// Whom do we believe about others?
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { AccuserLimit } from "./accuser_limit.ts";
import { authorityRankMax } from "./defaults.ts";
import { Departures } from "./departures.ts";
import type { RumourRefusal, Turn } from "./events.ts";
import { compareIncarnations } from "./incarnation.ts";
import type { Member } from "./member.ts";
import type { MemberTable } from "./member_table.ts";
import { type Rumour, signedBytes, type VerifyRumour } from "./rumour.ts";
import type { Voice } from "./voice.ts";

/** `gossip`: new to the whole mesh. `ride`: on a probe. `list`: what another side of a comparison holds, maybe old. */
export type RumourWay = "gossip" | "ride" | "list";

export type AccusationPorts = {
  readonly self: PeerId;
  readonly network: string;
  readonly verify: VerifyRumour;
  readonly table: MemberTable;
  readonly voice: Voice;
  /** Begins a round of probes. */
  readonly ask: (member: Member, turn: Turn) => void;
};

/** Who was heard so recently is asked before others are believed. A guess: two turns. */
const heardRecentlyMs: Ms = 2 * secondMs;
/** Proofs make a peer left only by two who watch it, as long as it has two. */
const accusersNeeded = 2;
/** Departures compared with our own view, a turn. A guess: a Slurm job of 200 takes 25 s. */
const reviewsPerTurn = 8;
/** Peers that wait for a check of our own; beyond that others are believed. A guess: half of a mesh of 1,000. */
const checksMax = 512;

/** Judges what peers say of each other, and keeps what is proven. */
export class Accusations {
  readonly departures = new Departures();
  readonly #limit = new AccuserLimit();
  /** Called left by others, alive for us: to be asked by ourselves. */
  readonly #unchecked = new Set<Member>();
  readonly #checking = new Set<Member>();

  #review = this.departures.peers();

  constructor(private readonly ports: AccusationPorts) {}

  /** Whether others have proven that a peer left at its present incarnation. */
  stands(member: Member): boolean {
    return this.departures.get(member.peer) !== undefined;
  }

  /** Takes a rumour from outside. @param from Who handed it on; `undefined` by gossip. */
  take(rumour: Rumour, way: RumourWay, turn: Turn, from?: Member): void {
    const { self, table, voice } = this.ports;
    if (this.departures.knows(rumour)) return;
    if (rumour.signer === self) return;
    const { subject } = rumour;
    if (subject !== self && !table.roster.has(subject)) {
      return this.#refuse("unknown_subject", turn);
    }
    const refutation = this.departures.refutationOf(subject);
    if (refutation && compareIncarnations(rumour.incarnation, refutation.incarnation) < 0) {
      if (way === "list" && from) voice.tell(from.peer, [refutation], turn);
      return this.#refuse("stale", turn);
    }
    const refusal = this.#refusalOf(rumour, turn);
    if (refusal) return this.#refuse(refusal, turn);
    if (subject === self) return this.#ofSelf(rumour, turn);
    voice.passOn(rumour, way === "gossip");
    if (rumour.kind === "alive") this.#spokeUp(rumour, turn);
    else this.#ofOther(rumour, way, turn);
  }

  /** Our own verdict: silent for too long, or gone. */
  accuse(member: Member, turn: Turn): void {
    if (this.stands(member)) return;
    const { voice } = this.ports;
    const rumour = voice.accusation(member.peer, member.incarnation ?? { epoch: 0, counter: 0 });
    voice.publish(rumour, turn);
    this.departures.accused(rumour, this.#neededFor(member.peer), turn.nowMs);
  }

  /** A peer whose eviction we wanted to check did not answer. @returns Whether that was the question. */
  checkFailed(member: Member, turn: Turn): boolean {
    if (!this.#checking.delete(member)) return false;
    if (!this.stands(member)) return false;
    this.believe(member, turn);
    return true;
  }

  /** Takes over what is proven. */
  believe(member: Member, turn: Turn): void {
    const departure = this.departures.get(member.peer);
    if (!departure) return;
    this.ports.table.become(member, "left", departure.reason, turn);
    member.redialAtMs ??= turn.nowMs;
  }

  /** A turn of probes: a few checks each. */
  ticked(turn: Turn, checksMax: number): void {
    this.departures.ticked(turn.nowMs);
    for (let count = 0; count < reviewsPerTurn; count++) this.#reviewOne(turn);
    let count = 0;
    for (const member of this.#unchecked) {
      if (count++ >= checksMax) return;
      this.#unchecked.delete(member);
      if (!this.stands(member)) continue;
      this.#checking.add(member);
      this.ports.ask(member, turn);
    }
  }

  /** We were frozen: questions that ran then have no answer. */
  reset(): void {
    for (const member of this.#checking) this.#unchecked.add(member);
    this.#checking.clear();
  }

  /** A few departures a turn are held against what we think, so that no disagreement lasts for ever. */
  #reviewOne(turn: Turn): void {
    const next = this.#review.next();
    if (next.done) {
      this.#review = this.departures.peers();
      return;
    }
    const member = this.ports.table.find(next.value);
    if (!member || member.status === "left" || this.#checking.has(member)) return;
    if (member.isConnected) this.#unchecked.add(member);
    else this.believe(member, turn);
  }

  forget(peer: PeerId): void {
    this.departures.forget(peer);
    const member = this.ports.table.find(peer);
    if (member) this.dropCheck(member);
  }

  /** Nobody needs to know any more whether a member is rightly called gone. */
  dropCheck(member: Member): void {
    this.#unchecked.delete(member);
    this.#checking.delete(member);
  }

  #refusalOf(rumour: Rumour, turn: Turn): RumourRefusal | undefined {
    const { kind, subject, incarnation, signer, signature } = rumour;
    const { table, network, verify } = this.ports;
    const known = table.incarnationOf(subject);
    if (known && compareIncarnations(incarnation, known) < 0) return "stale";
    const departed = this.departures.get(subject)?.incarnation;
    if (kind === "alive" && departed && compareIncarnations(incarnation, departed) <= 0) {
      return "stale";
    }
    // Goodbyes end by themselves: there is one an epoch.
    const isRepeatable = kind === "failed" || kind === "alive";
    if (isRepeatable && !this.#limit.mayRead(signer, turn.nowMs)) return "too_many";
    if (kind === "failed" && !this.#hasAuthority(signer, subject)) return "no_authority";
    return verify(signer, signedBytes(network, rumour), signature) ? undefined : "forged";
  }

  /**
   * Whether somebody is near enough to a peer to watch it, as far as we can tell. An accuser that has left since was
   * right when it spoke, or is on the other side of a split: its word is checked by probes of our own.
   */
  #hasAuthority(accuser: PeerId, subject: PeerId): boolean {
    const { table } = this.ports;
    if (!table.roster.has(accuser)) return false;
    const isOut = (peer: PeerId) => peer !== accuser && !table.isPresent(peer);
    return table.roster.watchersOf(subject, authorityRankMax, isOut).includes(accuser);
  }

  #neededFor(subject: PeerId): number {
    const { table } = this.ports;
    const watchers = table.roster.watchersOf(
      subject,
      accusersNeeded,
      (peer) => !table.isPresent(peer),
    );
    return Math.max(1, Math.min(accusersNeeded, watchers.length));
  }

  #ofSelf(rumour: Rumour, turn: Turn): void {
    const { voice } = this.ports;
    if (rumour.kind === "alive") return;
    const answer = voice.refute(rumour.incarnation, turn);
    if (answer) voice.publish(answer, turn);
  }

  #ofOther(rumour: Rumour, way: RumourWay, turn: Turn): void {
    const { table } = this.ports;
    if (rumour.kind === "failed") {
      if (!this.departures.accused(rumour, this.#neededFor(rumour.subject), turn.nowMs)) return;
    } else this.departures.said(rumour);
    const member = table.obtain(rumour.subject, turn);
    if (member.status === "left") return;
    // A goodbye needs no check, and who was told of an old departure at its own start has nothing to hold against it.
    const isOwnWord = rumour.kind !== "failed";
    const isHeard = member.isConnected || turn.nowMs - member.heardAtMs < heardRecentlyMs;
    const isOld = way === "list" || !table.isPresent(rumour.signer);
    const isDisputed = isOld && member.status === "alive";
    if (isOwnWord && !(isDisputed && !member.isConnected)) return this.believe(member, turn);
    if (!isHeard && !isDisputed) return this.believe(member, turn);
    if (!isHeard && this.#unchecked.size < checksMax) return void this.#unchecked.add(member);
    this.#checking.add(member);
    this.ports.ask(member, turn);
  }

  #spokeUp(rumour: Rumour, turn: Turn): void {
    const { table } = this.ports;
    const { subject, incarnation } = rumour;
    const member = table.obtain(subject, turn);
    table.learn(member, incarnation, turn);
    this.departures.refuted(rumour);
    this.ports.voice.queue.dropFailures(subject, incarnation);
    this.#unchecked.delete(member);
    this.#checking.delete(member);
    if (member.status !== "left") return;
    table.become(member, "alive", member.isConnected ? "connected" : "watched", turn);
    member.redialAtMs = null;
    member.failedDialCount = 0;
  }

  #refuse(reason: RumourRefusal, { effects }: Turn): void {
    effects.push({ type: "count", reason });
  }
}
