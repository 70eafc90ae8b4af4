// What do connections, dials, claims and answers tell of a peer?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { Accusations } from "./accusations.ts";
import type { Dials } from "./dials.ts";
import type { MemberEvent, Turn } from "./events.ts";
import { compareIncarnations, type Incarnation } from "./incarnation.ts";
import type { Member } from "./member.ts";
import type { MemberTable } from "./member_table.ts";
import type { ProbeMessage } from "./probe_message.ts";
import type { Rounds } from "./rounds.ts";
import type { Suspicions } from "./suspicions.ts";
import type { Voice } from "./voice.ts";
import type { Watchers } from "./watchers.ts";

/** What evidence changes. */
export type EvidenceParts = {
  readonly table: MemberTable;
  readonly watchers: Watchers;
  readonly rounds: Rounds;
  readonly suspicions: Suspicions;
  readonly accusations: Accusations;
  readonly dials: Dials;
  readonly voice: Voice;
};

/** A living peer that others call left is told at most this often. */
const tellEveryMs: Ms = 1_000;

/** Our own evidence: what we hear ourselves outweighs what others say. */
export class Evidence {
  constructor(private readonly parts: EvidenceParts) {}

  connected(member: Member, turn: Turn): void {
    this.parts.table.setConnected(member, true);
    this.parts.dials.connected(member);
    // Who has said goodbye and is back says so with a later incarnation, as soon as it is told.
    if (this.#hasSaidGoodbye(member)) return this.spokeUp(member, turn);
    this.#revive(member, turn);
  }

  #hasSaidGoodbye({ status, reason, peer }: Member): boolean {
    const isGone = status === "left" && (reason === "goodbye" || reason === "drained");
    return isGone && this.parts.accusations.departures.get(peer) !== undefined;
  }

  disconnected(member: Member, turn: Turn): void {
    this.parts.table.setConnected(member, false);
    if (member.status !== "alive" && !member.suspicion) return; // Who has left is expected to close.
    if (member.status === "alive") this.parts.table.become(member, "suspect", "disconnected", turn);
    if (this.parts.accusations.stands(member)) return this.parts.accusations.believe(member, turn);
    this.parts.dials.dial(member, turn);
  }

  dialRefused(member: Member, turn: Turn): void {
    if (member.isConnected) return;
    if (this.#wasOld(member)) return this.parts.dials.dial(member, turn);
    this.parts.dials.failed(member, turn);
    if (member.status === "left") return;
    const isWatcher = this.parts.watchers.includesSelf(member.peer);
    this.parts.suspicions.cleared(member);
    this.parts.table.become(member, "left", "refused", turn);
    // Others may still hear it: only when they do not either is it worth telling.
    if (isWatcher) this.parts.rounds.start(member, turn);
  }

  dialFailed(member: Member, turn: Turn): void {
    if (member.isConnected) return;
    if (this.#wasOld(member)) return this.parts.dials.dial(member, turn);
    this.parts.dials.failed(member, turn);
    if (member.status === "left") return; // Silence after a refusal is no news.
    if (!member.suspicion) this.parts.table.become(member, "suspect", "unreachable", turn);
    if (this.parts.watchers.includesSelf(member.peer)) this.parts.rounds.start(member, turn);
  }

  /** Whether the dial that ends was about an earlier life, or an earlier state of the network, than the one we know of now. */
  #wasOld(member: Member): boolean {
    member.isDialing = false;
    return member.learntAtMs > member.dialedAtMs;
  }

  claimSeen(
    { peer, epoch, isWanted, isHub }: Extract<MemberEvent, { type: "claimSeen" }>,
    turn: Turn,
  ): void {
    if (peer === this.parts.table.self) return;
    const { table } = this.parts;
    if (table.roster.add(peer)) table.watch.entered(peer);
    let member = table.find(peer);
    if (!member && !isWanted && !isHub) return this.#outlived(peer, { epoch, counter: 0 });
    member ??= table.obtain(peer, turn);
    member.isWanted = isWanted;
    member.isHub = isHub;
    const isNewRun = table.learn(member, { epoch, counter: 0 }, turn);
    if (isNewRun) this.#outlived(peer, { epoch, counter: 0 });
    const isBack = isNewRun && member.status === "left" && !this.parts.accusations.stands(member);
    if (member.isConnected) return isBack ? this.#revive(member, turn) : undefined;
    if (isBack) {
      member.failedDialCount = 0;
      member.redialAtMs = null;
      if (isWanted) table.become(member, "suspect", "claimed", turn);
      else table.becomeUnknown(member, turn);
    }
    if (isWanted && member.redialAtMs === null) this.parts.dials.dial(member, turn);
  }

  claimGone(peer: PeerId): void {
    const { table } = this.parts;
    const wasPresent = table.isPresent(peer);
    if (!table.roster.remove(peer)) return;
    if (wasPresent) table.watch.exited(peer);
    this.parts.accusations.forget(peer);
    const member = table.find(peer);
    if (member && !member.isConnected) this.forget(member);
  }

  forget(member: Member): void {
    this.parts.suspicions.cleared(member);
    this.parts.rounds.forget(member.peer);
    this.parts.table.forget(member);
  }

  /** Something came from a peer itself. */
  heard(member: Member, incarnation: Incarnation | undefined, turn: Turn): void {
    member.heardAtMs = turn.nowMs;
    this.parts.rounds.heard(member.peer, undefined, incarnation, turn);
    const isLater = incarnation !== undefined && this.parts.table.learn(member, incarnation, turn);
    if (isLater) this.#outlived(member.peer, incarnation);
    // It finishes what it had begun; only a later incarnation brings it back.
    if (this.#hasSaidGoodbye(member)) return;
    this.#revive(member, turn);
  }

  #revive(member: Member, turn: Turn): void {
    member.heardAtMs = turn.nowMs;
    this.parts.suspicions.cleared(member);
    if (member.isConnected) this.parts.table.become(member, "alive", "connected", turn);
    this.spokeUp(member, turn);
  }

  /** A living peer that others call left is told, so that it can refute. */
  spokeUp(member: Member, turn: Turn): void {
    if (!member.isConnected || !this.parts.accusations.stands(member)) return;
    if (turn.nowMs - member.toldAtMs < tellEveryMs) return;
    member.toldAtMs = turn.nowMs;
    this.probe(member, 0, turn);
  }

  heardByOthers(member: Member, incarnation: Incarnation | undefined, turn: Turn): void {
    member.heardAtMs = turn.nowMs;
    this.parts.suspicions.cleared(member);
    if (incarnation && this.parts.table.learn(member, incarnation, turn)) {
      this.#outlived(member.peer, incarnation);
    }
    if (member.isConnected || !this.parts.accusations.stands(member)) {
      if (member.reason === "refused") {
        this.parts.table.become(member, "suspect", "unreachable", turn);
      } else if (member.reason === "silent" || member.reason === "failed") {
        this.parts.table.become(
          member,
          "alive",
          member.isConnected ? "connected" : "watched",
          turn,
        );
      }
    }
  }

  /** What was said of an earlier incarnation is over. */
  #outlived(peer: PeerId, incarnation: Incarnation): void {
    this.parts.accusations.departures.outlived(peer, incarnation);
    this.parts.voice.queue.dropFailures(peer, incarnation);
  }

  roundFailed(member: Member, startedAtMs: Ms, turn: Turn): void {
    if (this.parts.accusations.checkFailed(member, turn)) return;
    if (member.status === "left") {
      // Its host refused us, and nobody else hears it either.
      if (member.reason === "refused") this.parts.accusations.accuse(member, turn);
      return;
    }
    this.parts.suspicions.failed(member, startedAtMs, turn);
  }

  condemn(member: Member, turn: Turn): void {
    const isWatcher = this.parts.watchers.includesSelf(member.peer);
    this.parts.table.become(member, "left", "failed", turn);
    member.redialAtMs ??= turn.nowMs;
    if (isWatcher) this.parts.accusations.accuse(member, turn);
  }

  share(member: Member, silentMs: Ms, askers: Iterable<PeerId>, turn: Turn): void {
    const { peer: target } = member;
    const incarnation = member.incarnation ?? { epoch: 0, counter: 0 };
    const told = new Set([...this.parts.watchers.of(target), ...askers]);
    told.delete(this.parts.table.self);
    for (const peer of told) {
      this.parts.voice.send(peer, { type: "suspect", target, incarnation, silentMs }, turn);
    }
  }

  suspectShared(
    by: Member,
    { target, incarnation, silentMs }: Extract<ProbeMessage, { type: "suspect" }>,
    turn: Turn,
  ): void {
    const member = this.parts.table.find(target);
    if (!member || member.status === "left") return;
    if (member.incarnation && compareIncarnations(incarnation, member.incarnation) < 0) return;
    const watchers = this.parts.watchers.of(target);
    if (!watchers.includes(this.parts.table.self) && !member.suspicion) return;
    this.parts.suspicions.shared(member, by.peer, watchers.includes(by.peer), silentMs, turn);
  }
  /** Asks a peer, and tells it when others call it left. */
  probe(member: Member, seq: number, turn: Turn): void {
    const departure = this.parts.accusations.departures.get(member.peer);
    this.parts.voice.probe(member.peer, seq, departure?.incarnation, turn);
  }
}
