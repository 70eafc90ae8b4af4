// How do two nodes come to agree on who has left when a rumour was lost?
import type { Ms } from "../base/units.ts";
import { comparePauseMsMax, digestDiffersMs } from "./defaults.ts";
import type { Departures } from "./departures.ts";
import type { Turn } from "./events.ts";
import type { Member } from "./member.ts";
import type { MemberTable } from "./member_table.ts";
import type { Voice } from "./voice.ts";

/** Rumours told in one answer; the rest follows with the next comparison. A guess: 100 KB. */
const rumoursPerAnswerMax = 512;

/** Digests ride on every probe; when they differ for a while, what differs is exchanged. */
export class Comparisons {
  #nextMs: Ms = -Infinity;
  #pauseMs: Ms = digestDiffersMs;
  #rootBefore: number | undefined;

  constructor(
    private readonly table: MemberTable,
    private readonly departures: Departures,
    private readonly voice: Voice,
  ) {}

  /** A peer said its digest. */
  seen(member: Member, root: number, turn: Turn): void {
    if (root === this.departures.digest.root) {
      member.differsSinceMs = undefined;
      this.table.synced(turn);
      return;
    }
    member.differsSinceMs ??= turn.nowMs;
    // Who knows nothing yet asks at once.
    const isDue = !this.table.isSynced || turn.nowMs - member.differsSinceMs >= digestDiffersMs;
    if (isDue && turn.nowMs >= this.#nextMs) this.#ask(member, turn);
  }

  /** A peer asks what we hold. */
  asked(member: Member, theirs: readonly number[], turn: Turn): void {
    const buckets = this.departures.digest.differing(theirs);
    this.voice.tell(
      member.peer,
      this.departures.rumoursIn(buckets).slice(0, rumoursPerAnswerMax),
      turn,
    );
    if (buckets.size > 0 && turn.nowMs >= this.#nextMs) this.#ask(member, turn);
  }

  /** A peer told what it holds. */
  answered(turn: Turn): void {
    this.table.synced(turn);
  }

  #ask(member: Member, turn: Turn): void {
    const { root } = this.departures.digest;
    // A comparison that changed nothing will not change anything soon: leases end at different times, for one.
    const wasInVain = root === this.#rootBefore;
    this.#pauseMs = wasInVain ? Math.min(2 * this.#pauseMs, comparePauseMsMax) : digestDiffersMs;
    this.#rootBefore = root;
    this.#nextMs = turn.nowMs + this.#pauseMs;
    this.voice.send(
      member.peer,
      { type: "compare", buckets: this.departures.digest.buckets() },
      turn,
    );
  }
}
