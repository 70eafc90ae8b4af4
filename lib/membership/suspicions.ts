// When does silence become a verdict?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import {
  failedRoundsMin,
  leftAfterMs,
  leftAloneAfterMs,
  probeEveryMs,
  probeTimeoutMs,
  sharedFreshMs,
  sharedSilenceMsMin,
} from "./defaults.ts";
import type { Turn } from "./events.ts";
import type { Member, Suspicion } from "./member.ts";
import type { MemberTable } from "./member_table.ts";

/** What somebody else said of a peer. */
type Hint = {
  readonly by: PeerId;
  readonly isWatcher: boolean;
  readonly startMs: Ms;
  readonly atMs: Ms;
};

/** Others that asked us about one suspected peer. A guess: the heads of a large mesh. */
const askersMax = 8;
/** Suspicions of others about peers that we have not asked yet; kept for a round. */
const hintsMax = 256;

/** What suspicions need from the rest of membership. */
export type SuspicionPorts = {
  readonly table: MemberTable;
  /** Begins a round of probes unless one runs. */
  readonly ask: (member: Member, turn: Turn) => void;
  /** Whether it still has time to answer a probe of ours. */
  readonly mayAnswer: (member: Member) => boolean;
  /** Tells the other watchers of a peer, and those who asked. */
  readonly share: (member: Member, silentMs: Ms, askers: Iterable<PeerId>, turn: Turn) => void;
  /** Silent for too long. */
  readonly condemn: (member: Member, turn: Turn) => void;
};

/** Peers that do not answer, asked again every second until they do or are called left. */
export class Suspicions {
  readonly #suspected = new Set<Member>();
  readonly #hints = new Map<PeerId, Hint>();

  constructor(private readonly ports: SuspicionPorts) {}

  get nextAtMs(): Ms {
    let next = Infinity;
    for (const { suspicion } of this.#suspected) {
      if (suspicion) next = Math.min(next, suspicion.nextRoundMs, suspicion.judgeMs);
    }
    return next;
  }

  /** A whole round of probes failed. @param startedAtMs When its first probe was sent. */
  failed(member: Member, startedAtMs: Ms, turn: Turn): void {
    const suspicion = member.suspicion ?? this.#begin(member, startedAtMs, turn);
    suspicion.failedCount++;
    suspicion.nextRoundMs = Math.max(turn.nowMs, startedAtMs + probeEveryMs);
    // Only what we found ourselves: silences that were told must not be told on.
    this.ports.share(member, turn.nowMs - suspicion.ownStartMs, suspicion.askers, turn);
    this.#judge(member, turn);
  }

  /**
   * Somebody suspects a peer that we watch, for so long already. Only another watcher's word counts with our own; a
   * head that uses the peer is told what we find.
   */
  shared(member: Member, by: PeerId, isWatcher: boolean, silentMs: Ms, turn: Turn): void {
    const { nowMs } = turn;
    const hint = { by, isWatcher, startMs: nowMs - silentMs, atMs: nowMs };
    if (member.suspicion) {
      this.#note(member.suspicion, hint);
      member.suspicion.judgeMs = Math.max(nowMs, member.suspicion.startMs + leftAfterMs);
      return;
    }
    if (nowMs - member.heardAtMs < probeTimeoutMs) return;
    if (this.#hints.size >= hintsMax) this.#hints.clear();
    this.#hints.set(member.peer, hint);
    this.ports.ask(member, turn);
  }

  /** It was heard, by us or by others for us. */
  cleared(member: Member): void {
    this.#hints.delete(member.peer);
    if (!member.suspicion) return;
    this.#suspected.delete(member);
    this.ports.table.setSuspicion(member, undefined);
  }

  ticked(turn: Turn): void {
    for (const member of [...this.#suspected]) {
      const { suspicion } = member;
      if (!suspicion) continue;
      if (suspicion.nextRoundMs <= turn.nowMs) {
        suspicion.nextRoundMs = turn.nowMs + probeEveryMs;
        this.ports.ask(member, turn);
      }
      if (suspicion.judgeMs <= turn.nowMs) this.#judge(member, turn);
    }
    for (const [peer, { atMs }] of this.#hints) {
      if (turn.nowMs - atMs > 5 * probeEveryMs) this.#hints.delete(peer);
    }
  }

  /** We were frozen: everybody has all the time again. */
  reset(nowMs: Ms): void {
    this.#hints.clear();
    for (const { suspicion } of this.#suspected) {
      if (!suspicion) continue;
      suspicion.ownStartMs = suspicion.startMs = nowMs;
      suspicion.judgeMs = nowMs + leftAfterMs;
      suspicion.failedCount = 0;
      suspicion.nextRoundMs = nowMs;
      suspicion.sharedBy.clear();
    }
  }

  #judge(member: Member, turn: Turn): void {
    const { suspicion } = member;
    if (!suspicion) return;
    const { table } = this.ports;
    const watchers = table.roster.watchersOf(member.peer, 2, (other) => !table.isPresent(other));
    const isAlone = watchers.length > 1 && !this.#isShared(suspicion, turn.nowMs);
    suspicion.judgeMs = suspicion.startMs + (isAlone ? leftAloneAfterMs : leftAfterMs);
    if (turn.nowMs < suspicion.judgeMs) return;
    suspicion.judgeMs = Infinity; // Until another round has failed.
    if (suspicion.failedCount < failedRoundsMin || this.ports.mayAnswer(member)) return;
    this.cleared(member);
    this.ports.condemn(member, turn);
  }

  /** Whether another watcher has heard nothing of it for long enough either. */
  #isShared({ sharedBy }: Suspicion, nowMs: Ms): boolean {
    for (const { startMs, atMs } of sharedBy.values()) {
      if (nowMs - atMs <= sharedFreshMs && nowMs - startMs >= sharedSilenceMsMin) return true;
    }
    return false;
  }

  #begin(member: Member, startedAtMs: Ms, turn: Turn): Suspicion {
    const hint = this.#hints.get(member.peer);
    this.#hints.delete(member.peer);
    // Silences that overlap add up, but not by more than two rounds, nor beyond what we heard ourselves.
    const earliestMs = Math.max(startedAtMs - 2 * probeEveryMs, member.heardAtMs);
    const startMs = hint?.isWatcher
      ? Math.min(startedAtMs, Math.max(hint.startMs, earliestMs))
      : startedAtMs;
    const suspicion: Suspicion = {
      ownStartMs: startedAtMs,
      startMs,
      failedCount: 0,
      sharedBy: new Map(),
      askers: new Set(),
      nextRoundMs: turn.nowMs,
      judgeMs: startMs + leftAfterMs,
    };
    if (hint) this.#note(suspicion, hint);
    this.ports.table.setSuspicion(member, suspicion);
    this.#suspected.add(member);
    if (member.status === "alive") this.ports.table.become(member, "suspect", "silent", turn);
    return suspicion;
  }

  #note(suspicion: Suspicion, { by, isWatcher, startMs, atMs }: Hint): void {
    if (isWatcher) suspicion.sharedBy.set(by, { startMs, atMs });
    else if (suspicion.askers.size < askersMax) suspicion.askers.add(by);
  }
}
