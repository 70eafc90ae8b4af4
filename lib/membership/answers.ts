// What follows from a message of another node?
import type { Accusations } from "./accusations.ts";
import type { Comparisons } from "./comparisons.ts";
import type { Turn } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Member } from "./member.ts";
import type { MemberTable } from "./member_table.ts";
import type { ProbeMessage } from "./probe_message.ts";
import type { Rounds } from "./rounds.ts";
import type { Voice } from "./voice.ts";

/** Who listens. */
export type AnswerParts = {
  readonly table: MemberTable;
  readonly rounds: Rounds;
  readonly evidence: Evidence;
  readonly accusations: Accusations;
  readonly comparisons: Comparisons;
  readonly voice: Voice;
};

/** Takes messages apart; whatever they are, their sender lives. */
export class Answers {
  constructor(private readonly parts: AnswerParts) {}

  /** A message came over the peer's own connection. */
  received(member: Member, message: ProbeMessage, turn: Turn): void {
    const { peer } = member;
    const isState = message.type === "probe" || message.type === "ack";
    const incarnation = isState ? message.incarnation : undefined;
    this.parts.rounds.heard(
      peer,
      message.type === "ack" ? message.seq : undefined,
      incarnation,
      turn,
    );
    this.parts.evidence.heard(member, incarnation, turn);
    if (isState) {
      turn.effects.push({ type: "rootSeen", peer, root: message.root });
      for (const rumour of message.rumours) {
        this.parts.accusations.take(rumour, "ride", turn, member);
      }
      this.parts.comparisons.seen(member, message.departed, turn);
    }
    switch (message.type) {
      case "probe":
        if (message.accused) this.#refute(message.accused, turn);
        return this.parts.voice.ack(peer, message.seq, turn);
      case "ack":
        return;
      case "ask":
        return this.parts.rounds.asked(
          peer,
          message.seq,
          this.parts.table.find(message.target),
          message.target,
          turn,
        );
      case "answer":
        return this.parts.rounds.answered(message.seq, message.incarnation, turn);
      case "suspect":
        return this.parts.evidence.suspectShared(member, message, turn);
      case "compare":
        return this.parts.comparisons.asked(member, message.buckets, turn);
      case "rumours":
        for (const rumour of message.rumours) {
          this.parts.accusations.take(rumour, "list", turn, member);
        }
        return this.parts.comparisons.answered(turn);
    }
  }

  #refute(accused: Incarnation, turn: Turn): void {
    const answer = this.parts.voice.refute(accused, turn);
    if (answer) this.parts.voice.publish(answer, turn);
  }
}
