// Which peers do we know, and what are they for us?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { membersMax } from "./defaults.ts";
import type { Turn } from "./events.ts";
import { compareIncarnations, type Incarnation } from "./incarnation.ts";
import { type Member, newMember } from "./member.ts";
import type { Roster } from "./roster.ts";
import type { PeerStatus, Status, StatusReason } from "./status.ts";
import { WatchList } from "./watch_list.ts";

/**
 * Peers of which we know more than their claim. All others are as the mesh says: alive, as nobody calls them left, once
 * we have heard from anybody who that is; suspect before, since a claim alone proves no life (weaknesses, part B 35).
 */
export class MemberTable {
  readonly watch: WatchList;
  /** Members that are connected. */
  readonly connected = new Set<Member>();
  /** Members that need a look: suspect or under suspicion, or lost. */
  readonly troubled = new Set<Member>();
  readonly #members = new Map<PeerId, Member>();
  #unknown: PeerStatus;

  /** @param epochOf The epoch of a peer's claim, 0 when it has none. */
  constructor(
    readonly self: PeerId,
    readonly roster: Roster,
    readonly epochOf: (peer: PeerId) => number,
    nowMs: Ms,
  ) {
    this.#unknown = { status: "suspect", reason: "claimed", sinceMs: nowMs };
    roster.add(self); // It watches too.
    this.watch = new WatchList(self, roster, (peer) => this.statusOf(peer) === "left");
  }

  get isSynced(): boolean {
    return this.#unknown.status === "alive";
  }

  /** We have heard from somebody who has left. */
  synced(turn: Turn): void {
    if (this.isSynced) return;
    this.#unknown = { status: "alive", reason: "watched", sinceMs: turn.nowMs };
    turn.effects.push({ type: "synced" });
    for (const member of this.troubled) {
      if (member.reason === "claimed" && this.roster.has(member.peer)) {
        this.becomeUnknown(member, turn);
      }
    }
  }

  get size(): number {
    return this.#members.size;
  }

  /** Told of a member that must go to make room: nobody may go on asking for it. Set by whoever asks. */
  evicted: (member: Member) => void = () => {};

  values(): IterableIterator<Member> {
    return this.#members.values();
  }

  find(peer: PeerId): Member | undefined {
    return this.#members.get(peer);
  }

  statusOf(peer: PeerId): Status {
    const member = this.#members.get(peer);
    if (member) return member.status;
    return this.roster.has(peer) ? this.#unknown.status : "suspect";
  }

  /** `undefined` for a peer that has no claim and never was connected. */
  get(peer: PeerId): PeerStatus | undefined {
    const member = this.#members.get(peer);
    if (member) return member;
    return this.roster.has(peer) ? this.#unknown : undefined;
  }

  /** The member of a peer, made when there is none. */
  obtain(peer: PeerId, { nowMs }: Turn): Member {
    const known = this.#members.get(peer);
    if (known) return known;
    if (this.#members.size >= membersMax) this.#evict();
    const start: PeerStatus = this.roster.has(peer)
      ? this.#unknown
      : { status: "suspect", reason: "claimed", sinceMs: nowMs };
    const member = newMember(peer, start);
    const epoch = this.epochOf(peer);
    if (epoch > 0) member.incarnation = { epoch, counter: 0 };
    this.#members.set(peer, member);
    this.#look(member);
    return member;
  }

  become(member: Member, status: Status, reason: StatusReason, turn: Turn): void {
    if (member.status === status && member.reason === reason) return;
    const before: PeerStatus = {
      status: member.status,
      reason: member.reason,
      sinceMs: member.sinceMs,
    };
    member.status = status;
    member.reason = reason;
    member.sinceMs = turn.nowMs;
    this.#look(member);
    if (this.roster.has(member.peer)) {
      if (status === "left" && before.status !== "left") this.watch.exited(member.peer);
      if (status !== "left" && before.status === "left") this.watch.entered(member.peer);
    }
    const after = { status, reason, sinceMs: turn.nowMs };
    turn.effects.push({ type: "changed", peer: member.peer, status: after, before });
  }

  /** As others say: we have nothing of our own against it. */
  becomeUnknown(member: Member, turn: Turn): void {
    this.become(member, this.#unknown.status, this.#unknown.reason, turn);
  }

  setConnected(member: Member, isConnected: boolean): void {
    member.isConnected = isConnected;
    if (isConnected) this.connected.add(member);
    else this.connected.delete(member);
    this.#look(member);
  }

  setSuspicion(member: Member, suspicion: Member["suspicion"]): void {
    member.suspicion = suspicion;
    this.#look(member);
  }

  /** The latest incarnation that we know of a peer; `undefined` when it has none. */
  incarnationOf(peer: PeerId): Incarnation | undefined {
    const member = this.#members.get(peer);
    if (member) return member.incarnation;
    const epoch = this.epochOf(peer);
    return epoch > 0 ? { epoch, counter: 0 } : undefined;
  }

  /** @returns Whether this is later than what we knew. */
  learn(member: Member, incarnation: Incarnation, { nowMs }: Turn): boolean {
    const isNews = !member.incarnation || compareIncarnations(incarnation, member.incarnation) > 0;
    if (!isNews) return false;
    member.incarnation = incarnation;
    member.learntAtMs = nowMs;
    return true;
  }

  forget(member: Member): void {
    this.#members.delete(member.peer);
    this.connected.delete(member);
    this.troubled.delete(member);
  }

  /** Whether nobody says that it has left, and neither do we. */
  isPresent(peer: PeerId): boolean {
    return this.statusOf(peer) !== "left";
  }

  #look(member: Member): void {
    if (member.status !== "alive" || member.suspicion) this.troubled.add(member);
    else this.troubled.delete(member);
  }

  /** Makes room for one: who has left, else who is not connected, else the oldest. */
  #evict(): void {
    let victim: Member | undefined;
    for (const member of this.#members.values()) {
      if (member.status === "left") {
        victim = member;
        break;
      }
      if (!member.isConnected) victim ??= member;
    }
    victim ??= this.#members.values().next().value;
    if (!victim) return;
    this.evicted(victim);
    this.forget(victim);
  }
}
