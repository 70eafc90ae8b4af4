// Who watches a peer, and who may hear it for us?
import type { PeerId } from "../base/peer_id.ts";
import { watchersMax } from "./defaults.ts";
import type { Turn } from "./events.ts";
import type { Member } from "./member.ts";
import type { MemberTable } from "./member_table.ts";

/** Answers from the roster and from who has left, as far as this node knows. */
export class Watchers {
  constructor(private readonly table: MemberTable) {}

  /** Whether this node is one of them. */
  includesSelf(peer: PeerId): boolean {
    return this.of(peer).includes(this.table.self);
  }

  /** The nearest to a peer of those that are here, itself excepted. */
  of(peer: PeerId): PeerId[] {
    return this.table.roster.watchersOf(peer, watchersMax, (other) => !this.table.isPresent(other));
  }

  /** Other watchers of it first, then heads and relays, then anybody connected; none suspected. */
  helpersOf(target: PeerId, countMax: number, { random }: Turn): PeerId[] {
    const helpers: PeerId[] = [];
    const add = (peer: PeerId, member: Member | undefined) => {
      if (member?.suspicion || peer === target || peer === this.table.self) return;
      if (helpers.length < countMax && !helpers.includes(peer)) helpers.push(peer);
    };
    for (const watcher of this.of(target)) {
      const member = this.table.find(watcher);
      if (!member || member.status === "alive") add(watcher, member);
    }
    const others = [...this.table.connected];
    const start = Math.floor(random() * others.length);
    for (let at = 0; at < others.length; at++) {
      const member = others[(start + at) % others.length];
      if (member.isHub) add(member.peer, member);
    }
    for (let at = 0; at < others.length && helpers.length < countMax; at++) {
      const member = others[(start + at) % others.length];
      add(member.peer, member);
    }
    return helpers;
  }
}
