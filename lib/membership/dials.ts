// Which peers are dialled, and when again?
import type { Ms } from "../base/units.ts";
import { redialCount, redialFirstMs, redialMaxMs } from "./defaults.ts";
import type { Turn } from "./events.ts";
import type { Member } from "./member.ts";
import type { MemberTable } from "./member_table.ts";

/** Should the driver lose a dial, the next one comes then. */
const dialLostMs: Ms = redialMaxMs;

/**
 * Peers without a connection that we want one to. Who is suspect is redialled by its own timer; of those who have left
 * two at random are tried every 3 s for as long as their claims live, so that halves of a split mesh find each other.
 */
export class Dials {
  #nextLookMs: Ms;

  /** @param hasDeparted Whether others have proven that a peer left. */
  constructor(
    private readonly table: MemberTable,
    private readonly hasDeparted: (member: Member) => boolean,
    { nowMs, random }: Turn,
  ) {
    this.#nextLookMs = nowMs + jittered(redialFirstMs, random());
  }

  /** Dials now, unless a dial runs. */
  dial(member: Member, { nowMs, effects }: Turn): void {
    if (member.isConnected) return;
    member.redialAtMs = nowMs + dialLostMs;
    if (member.isDialing && nowMs - member.dialedAtMs < dialLostMs) return;
    member.isDialing = true;
    member.dialedAtMs = nowMs;
    effects.push({ type: "dial", peer: member.peer });
  }

  connected(member: Member): void {
    member.isDialing = false;
    member.failedDialCount = 0;
    member.redialAtMs = null;
  }

  failed(member: Member, { nowMs, random }: Turn): void {
    member.isDialing = false;
    member.failedDialCount++;
    const grownMs = redialFirstMs * 2 ** Math.min(member.failedDialCount - 1, 10);
    // Few lost peers are tried as often as many are in turn: a mesh of two heals as soon as one of two hundred.
    const maxMs = Math.min(Math.max(this.table.troubled.size, 1) * redialFirstMs, redialMaxMs);
    member.redialAtMs = nowMs + Math.min(jittered(Math.min(grownMs, maxMs), random()), redialMaxMs);
  }

  /** Looks who is due; about once a second is exact enough for waits of seconds. */
  ticked(turn: Turn): void {
    const { nowMs, random } = turn;
    const lost: Member[] = [];
    const isLookDue = nowMs >= this.#nextLookMs;
    for (const member of this.table.troubled) {
      if (member.isConnected || !this.table.roster.has(member.peer)) continue;
      const isDue = member.redialAtMs === null || member.redialAtMs <= nowMs;
      // Who only refuses us is tried by its own timer: others may hear it.
      if (member.status === "left" && this.hasDeparted(member)) {
        if (isLookDue && isDue) lost.push(member);
      } else if (member.redialAtMs !== null && isDue) this.dial(member, turn);
    }
    if (!isLookDue) return;
    this.#nextLookMs = nowMs + jittered(redialFirstMs, random());
    // Heads and relays first: they know the rest.
    const hubs = lost.filter(({ isHub }) => isHub);
    for (let count = 0; count < redialCount && lost.length > 0; count++) {
      const from = count === 0 && hubs.length > 0 ? hubs : lost;
      const member = from[Math.floor(random() * from.length)];
      lost.splice(lost.indexOf(member), 1);
      this.dial(member, turn);
    }
  }
}

/** ± a third. */
function jittered(ms: Ms, random: number): Ms {
  return ms * (2 / 3 + random * 2 / 3);
}
