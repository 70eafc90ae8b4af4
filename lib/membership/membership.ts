// Who is here now, as far as this node can tell?
import type { PeerId } from "../base/peer_id.ts";
import type { Random } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import { Accusations } from "./accusations.ts";
import {
  checksPerTurnMax,
  exchangedRecentlyMs,
  probeEveryMs,
  probeTimeoutMs,
  turnsPerRound,
} from "./defaults.ts";
import { Answers } from "./answers.ts";
import { Comparisons } from "./comparisons.ts";
import { Dials } from "./dials.ts";
import type { MemberEffect, MemberEvent, Turn } from "./events.ts";
import { Evidence } from "./evidence.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Member } from "./member.ts";
import { MemberTable } from "./member_table.ts";
import { Roster } from "./roster.ts";
import { Rounds } from "./rounds.ts";
import type { SignRumour, VerifyRumour } from "./rumour.ts";
import { SelfDoubt } from "./self_doubt.ts";
import type { PeerStatus, Status } from "./status.ts";
import { Suspicions } from "./suspicions.ts";
import { Voice } from "./voice.ts";
import { Watchers } from "./watchers.ts";

export type MembershipOptions = {
  readonly self: PeerId;
  readonly network: string;
  /** Of this node's claim. */
  readonly epoch: number;
  /** Heads also probe workers with exchanges. */
  readonly isHead: boolean;
  readonly sign: SignRumour;
  readonly verify: VerifyRumour;
  /** The epoch of the claim that we hold of a peer; 0 when there is none. */
  readonly epochOf: (peer: PeerId) => number;
  /** Of the registry, 16 hexadecimal digits. */
  readonly root: () => string;
  /** Peers with a claim. Simulated nodes share one; else it is this membership's own. */
  readonly roster?: Roster;
  readonly nowMs: Ms;
  readonly random: Random;
};

/** A peer without claim and connection is forgotten after so long. A guess: longer than a dial. */
const strangerKeptMs: Ms = 10_000;

/**
 * SWIM (Das, Gupta, Motivala 2002) with Lifeguard's self-doubt over a bounded watch set (protocol §4). Without clock,
 * chance, keys or network: events come in with the monotonic time, effects go out, `nextAtMs` says when to tick.
 */
export class Membership {
  readonly table: MemberTable;
  readonly #options: MembershipOptions;
  readonly #doubt = new SelfDoubt();
  readonly #voice: Voice;
  readonly #rounds: Rounds;
  readonly #suspicions: Suspicions;
  readonly #accusations: Accusations;
  readonly #dials: Dials;
  readonly #watchers: Watchers;
  readonly #evidence: Evidence;
  readonly #answers: Answers;
  /** Heads: workers with exchanges. */
  readonly #busy = new Set<Member>();
  #nextProbeMs: Ms;
  #nextAtMs: Ms;
  #turnAt = 0;

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { self, nowMs, random } = options;
    const turn: Turn = { nowMs, random, effects: [] };
    this.table = new MemberTable(self, options.roster ?? new Roster(), options.epochOf, nowMs);
    this.#voice = new Voice({
      ...options,
      departed: () => this.#accusations.departures.digest.root,
      peerCount: () => this.table.roster.size,
    });
    this.#watchers = new Watchers(this.table);
    this.#rounds = new Rounds({
      doubt: this.#doubt,
      probe: (member, seq, turn) => this.#evidence.probe(member, seq, turn),
      helpersOf: (target, countMax, turn) => this.#watchers.helpersOf(target, countMax, turn),
      answered: (member, incarnation, turn) =>
        this.#evidence.heardByOthers(member, incarnation, turn),
      failed: (member, startedAtMs, turn) => this.#evidence.roundFailed(member, startedAtMs, turn),
    });
    this.#suspicions = new Suspicions({
      table: this.table,
      ask: (member, turn) => this.#rounds.start(member, turn),
      mayAnswer: ({ peer }) => this.#rounds.mayAnswer(peer),
      share: (member, silentMs, askers, turn) =>
        this.#evidence.share(member, silentMs, askers, turn),
      condemn: (member, turn) => this.#evidence.condemn(member, turn),
    });
    this.#accusations = new Accusations({
      ...options,
      table: this.table,
      voice: this.#voice,
      ask: (member, turn) => this.#rounds.start(member, turn),
    });
    const comparisons = new Comparisons(this.table, this.#accusations.departures, this.#voice);
    this.#dials = new Dials(this.table, (member) => this.#accusations.stands(member), turn);
    this.#evidence = new Evidence({
      table: this.table,
      watchers: this.#watchers,
      rounds: this.#rounds,
      suspicions: this.#suspicions,
      accusations: this.#accusations,
      dials: this.#dials,
      voice: this.#voice,
    });
    this.#answers = new Answers({
      table: this.table,
      rounds: this.#rounds,
      evidence: this.#evidence,
      accusations: this.#accusations,
      comparisons,
      voice: this.#voice,
    });
    this.table.evicted = (member) => {
      this.#busy.delete(member);
      this.#accusations.dropCheck(member);
      this.#evidence.forget(member);
    };
    // Nodes that start together do not probe together.
    this.#nextProbeMs = this.#nextAtMs = nowMs + random() * probeEveryMs;
  }

  /** Takes one event. @returns What is to be done, in order. */
  apply(
    event: MemberEvent,
    { nowMs, random }: { nowMs: Ms; random: Random },
  ): readonly MemberEffect[] {
    const turn: Turn = { nowMs, random, effects: [] };
    if (this.#doubt.frozenMs(nowMs) > 0) this.#wake(turn);
    this.#take(event, turn);
    this.#nextAtMs = Math.min(
      this.#nextProbeMs,
      this.#rounds.nextAtMs,
      this.#suspicions.nextAtMs,
    );
    this.#doubt.expects(this.#nextAtMs);
    return turn.effects;
  }

  /** When `ticked` is due next; asked after each event. */
  get nextAtMs(): Ms {
    return this.#nextAtMs;
  }

  /** For routing: a peer never heard of is `suspect`. */
  statusOf(peer: PeerId): Status {
    return this.table.statusOf(peer);
  }

  /** Status, reason and since when; `undefined` for a peer that has no claim and never was connected. */
  get(peer: PeerId): PeerStatus | undefined {
    return this.table.get(peer);
  }

  /**
   * Who says what `get` says: those who called a peer left, or this node itself. Empty when it is what the whole mesh
   * holds, as nobody has said otherwise.
   */
  seenBy(peer: PeerId): readonly PeerId[] {
    const member = this.table.find(peer);
    if (!member || member.reason === "watched" || member.reason === "claimed") return [];
    const departure = this.#accusations.departures.get(peer);
    if (!departure || member.status !== "left" || member.reason === "refused") {
      return [this.table.self];
    }
    return departure.rumours.map(({ signer }) => signer);
  }

  /** Peers that this node watches. */
  get watched(): readonly PeerId[] {
    return this.table.watch.watched;
  }

  /** This node's own incarnation. */
  get incarnation(): Incarnation {
    return this.#voice.incarnation;
  }

  /** Digest of who has left: equal on nodes that agree. */
  get departedRoot(): number {
    return this.#accusations.departures.digest.root;
  }

  #take(event: MemberEvent, turn: Turn): void {
    switch (event.type) {
      case "ticked":
        return this.#ticked(turn);
      case "connected":
        return this.#evidence.connected(this.table.obtain(event.peer, turn), turn);
      case "disconnected":
        return this.#disconnected(this.table.obtain(event.peer, turn), turn);
      case "dialRefused":
        return this.#evidence.dialRefused(this.table.obtain(event.peer, turn), turn);
      case "dialFailed":
        return this.#evidence.dialFailed(this.table.obtain(event.peer, turn), turn);
      case "claimSeen":
        return this.#evidence.claimSeen(event, turn);
      case "claimGone":
        return this.#evidence.claimGone(event.peer);
      case "heard":
      case "exchanged":
      case "doubted":
        return this.#noticed(event.type, this.table.find(event.peer), turn);
      case "received":
        return this.#answers.received(this.table.obtain(event.peer, turn), event.message, turn);
      case "gossiped":
        return this.#accusations.take(event.rumour, "gossip", turn);
      case "epochRaised":
        return this.#voice.epochRaised(event.epoch);
      case "leaving":
        return this.#leave(event.reason, turn);
    }
  }

  /** We were frozen for more than a second: what did not arrive in that time says nothing about others. */
  #wake({ nowMs, random }: Turn): void {
    this.#rounds.reset();
    this.#suspicions.reset(nowMs);
    this.#accusations.reset();
    this.#nextProbeMs = nowMs + random() * probeEveryMs;
  }

  #ticked(turn: Turn): void {
    this.#rounds.ticked(turn);
    this.#suspicions.ticked(turn);
    if (turn.nowMs < this.#nextProbeMs) return;
    this.#nextProbeMs = Math.max(this.#nextProbeMs + probeEveryMs, turn.nowMs + probeEveryMs / 2);
    this.#dials.ticked(turn);
    this.#accusations.ticked(turn, checksPerTurnMax);
    this.#turn(turn);
  }

  /** One second's probes. */
  #turn(turn: Turn): void {
    for (const member of this.table.troubled) {
      const isStranger = !member.isConnected && !this.table.roster.has(member.peer);
      if (isStranger && turn.nowMs - member.sinceMs > strangerKeptMs) this.#evidence.forget(member);
    }
    const { watched } = this.table.watch;
    const count = Math.ceil(watched.length / turnsPerRound);
    for (let probed = 0; probed < count; probed++) {
      this.#turnAt = (this.#turnAt + 1) % watched.length;
      this.#look(this.table.obtain(watched[this.#turnAt], turn), turn);
    }
    for (const member of this.#busy) {
      if (turn.nowMs - member.exchangedAtMs > exchangedRecentlyMs) this.#busy.delete(member);
      else if (turn.nowMs - member.heardAtMs >= probeTimeoutMs) this.#look(member, turn);
    }
  }

  #look(member: Member, turn: Turn): void {
    if (member.suspicion) return; // Asked in its own time.
    if (member.isConnected) this.#rounds.start(member, turn);
    else if (member.redialAtMs === null) this.#dials.dial(member, turn);
    else if (member.failedDialCount > 0) this.#rounds.start(member, turn); // Others may reach it.
  }

  #disconnected(member: Member, turn: Turn): void {
    this.#busy.delete(member);
    this.#evidence.disconnected(member, turn);
  }

  /** Something happened over another protocol. */
  #noticed(what: "heard" | "exchanged" | "doubted", member: Member | undefined, turn: Turn): void {
    if (!member?.isConnected) return;
    if (what === "heard") return this.#evidence.heard(member, undefined, turn);
    if (what === "doubted") return member.suspicion ? undefined : this.#rounds.start(member, turn);
    member.exchangedAtMs = turn.nowMs;
    if (this.#options.isHead) this.#busy.add(member);
  }

  #leave(reason: "goodbye" | "drained", turn: Turn): void {
    if (this.#voice.hasLeft) return;
    const rumour = this.#voice.goodbye(reason);
    this.#voice.publish(rumour, turn);
    for (const { peer } of this.table.connected) this.#voice.tell(peer, [rumour], turn);
  }
}
