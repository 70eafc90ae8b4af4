// What does this node say of itself and of others, and how is it heard?
import type { PeerId } from "../base/peer_id.ts";
import type { Bytes } from "../base/units.ts";
import type { Turn } from "./events.ts";
import { compareIncarnations, counterLast, type Incarnation, outbid } from "./incarnation.ts";
import {
  type ProbeMessage,
  probeMessageBytesMax,
  type ProbeState,
  rumoursPerListMax,
} from "./probe_message.ts";
import { type Rumour, signedBytes, type SignRumour } from "./rumour.ts";
import { retransmitLimit, RumourQueue } from "./rumour_queue.ts";

/** Who speaks, and with which key. */
export type VoiceOptions = {
  readonly self: PeerId;
  readonly network: string;
  /** Of this node's claim. */
  readonly epoch: number;
  readonly sign: SignRumour;
  /** Of the registry, 16 hexadecimal digits. */
  readonly root: () => string;
  /** Digest of who has left. */
  readonly departed: () => number;
  readonly peerCount: () => number;
};

/** A rumour without its signature, at most; RSA's are several times as long as Ed25519's. */
const unsignedBytesMax: Bytes = 140;
/** Times a rumour that came by gossip is told again on probes: gossip has its own repetitions. A guess. */
const gossipedTimes = 2;

/** This node's incarnation and the rumours that it passes on. */
export class Voice {
  readonly queue = new RumourQueue();
  #incarnation: Incarnation;
  #hasLeft = false;

  constructor(private readonly options: VoiceOptions) {
    this.#incarnation = { epoch: options.epoch, counter: 0 };
  }

  get incarnation(): Incarnation {
    return this.#incarnation;
  }

  /** Whether this node has said goodbye. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** The claim of this node is of a later epoch. */
  epochRaised(epoch: number): void {
    if (epoch > this.#incarnation.epoch && !this.#hasLeft) {
      this.#incarnation = { epoch, counter: 0 };
    }
  }

  /** What every probe and answer says. */
  state(): ProbeState {
    const { root, departed } = this.options;
    return { incarnation: this.#incarnation, root: root(), departed: departed() };
  }

  probe(peer: PeerId, seq: number, accused: Incarnation | undefined, turn: Turn): void {
    const about = accused ? { accused } : {};
    this.send(
      peer,
      { type: "probe", seq, ...this.state(), rumours: this.queue.take(), ...about },
      turn,
    );
  }

  ack(peer: PeerId, seq: number, turn: Turn): void {
    this.send(peer, { type: "ack", seq, ...this.state(), rumours: this.queue.take() }, turn);
  }

  send(peer: PeerId, message: ProbeMessage, { effects }: Turn): void {
    effects.push({ type: "send", peer, message });
  }

  /** Rumours in as many messages as they need. An empty list is said as well: it ends the question. */
  tell(peer: PeerId, rumours: readonly Rumour[], turn: Turn): void {
    let list: Rumour[] = [];
    let bytes: Bytes = 0;
    for (const rumour of rumours) {
      const more = rumour.signature.byteLength + unsignedBytesMax;
      if (list.length === rumoursPerListMax || bytes + more > probeMessageBytesMax) {
        this.send(peer, { type: "rumours", rumours: list }, turn);
        [list, bytes] = [[], 0];
      }
      list.push(rumour);
      bytes += more;
    }
    this.send(peer, { type: "rumours", rumours: list }, turn);
  }

  /** A new statement of ours: to everybody, by gossip and on probes. */
  publish(rumour: Rumour, { effects }: Turn): void {
    effects.push({ type: "publish", rumour });
    this.queue.add(rumour, retransmitLimit(this.options.peerCount()));
  }

  /** Passes on what another said. */
  passOn(rumour: Rumour, wasGossiped: boolean): void {
    const limit = retransmitLimit(this.options.peerCount());
    this.queue.add(rumour, wasGossiped ? Math.min(gossipedTimes, limit) : limit);
  }

  /** A signed accusation. */
  accusation(subject: PeerId, incarnation: Incarnation): Rumour {
    return this.#signed({ kind: "failed", subject, incarnation, signer: this.options.self });
  }

  /**
   * Others say that we have left at this incarnation.
   * @returns Our answer, to be published; `undefined` when it is true or was outbid before.
   */
  refute(accused: Incarnation, turn: Turn): Rumour | undefined {
    if (this.#hasLeft || compareIncarnations(accused, this.#incarnation) < 0) return undefined;
    const former = this.#incarnation;
    this.#incarnation = outbid(accused);
    if (this.#incarnation.epoch > former.epoch) {
      turn.effects.push({ type: "outbid", epoch: this.#incarnation.epoch });
    }
    turn.effects.push({ type: "refuted", incarnation: this.#incarnation });
    return this.alive();
  }

  /** A signed sign of life at the present incarnation. */
  alive(): Rumour {
    const { self } = this.options;
    return this.#signed({
      kind: "alive",
      subject: self,
      incarnation: this.#incarnation,
      signer: self,
    });
  }

  /** The last word of this epoch. */
  goodbye(kind: "goodbye" | "drained"): Rumour {
    const { self } = this.options;
    this.#hasLeft = true;
    this.#incarnation = { epoch: this.#incarnation.epoch, counter: counterLast };
    return this.#signed({ kind, subject: self, incarnation: this.#incarnation, signer: self });
  }

  #signed(rumour: Omit<Rumour, "signature">): Rumour {
    const signature = this.options.sign(signedBytes(this.options.network, rumour));
    return { ...rumour, signature };
  }
}
