// How do tests drive one membership machine without a network?
import type { PeerId } from "../../lib/base/peer_id.ts";
import type { MemberEffect, MemberEvent } from "../../lib/membership/events.ts";
import type { Incarnation } from "../../lib/membership/incarnation.ts";
import { Membership, type MembershipOptions } from "../../lib/membership/membership.ts";
import type { ProbeMessage } from "../../lib/membership/probe_message.ts";
import { type Rumour, type RumourKind, signedBytes } from "../../lib/membership/rumour.ts";
import { peerNumbered } from "../../lib/sim/peer_names.ts";
import { seededRandom } from "../../lib/sim/seeded_random.ts";

export const network = "test";

type Sent<Type extends ProbeMessage["type"]> = Extract<ProbeMessage, { type: Type }>;

/** A node among numbered peers that all have claims of epoch 1. Its own number is 0. */
export class MembershipNode {
  readonly membership: Membership;
  readonly peers: readonly PeerId[];
  nowMs = 0;
  /** Every effect so far. */
  readonly effects: MemberEffect[] = [];
  readonly #random = seededRandom(1);

  constructor(peerCount: number, options: Partial<MembershipOptions> = {}) {
    this.peers = Array.from({ length: peerCount + 1 }, (_, number) => peerNumbered(number));
    this.membership = new Membership({
      self: this.peers[0],
      network,
      epoch: 1,
      isHead: false,
      sign: (message) => signatureOf(this.peers[0], message),
      verify: isSignatureOf,
      epochOf: () => 1,
      root: () => "0".repeat(16),
      nowMs: 0,
      random: this.#random,
      ...options,
    });
    for (const peer of this.peers.slice(1)) this.claim(peer);
  }

  /** @returns Its effects. */
  apply(event: MemberEvent): MemberEffect[] {
    const effects = this.membership.apply(event, { nowMs: this.nowMs, random: this.#random });
    this.effects.push(...effects);
    return [...effects];
  }

  claim(peer: PeerId, epoch = 1, isWanted = false): MemberEffect[] {
    return this.apply({ type: "claimSeen", peer, epoch, isWanted, isHub: false });
  }

  connect(...peers: PeerId[]): void {
    for (const peer of peers) this.apply({ type: "connected", peer });
  }

  /** A message of a peer comes in. */
  receive(peer: PeerId, message: ProbeMessage): MemberEffect[] {
    return this.apply({ type: "received", peer, message });
  }

  gossip(rumour: Rumour): MemberEffect[] {
    return this.apply({ type: "gossiped", rumour });
  }

  /** Lets time pass, ticking when asked to. @param answer Called for each effect meanwhile. */
  run(ms: number, answer: (effect: MemberEffect, node: MembershipNode) => void = () => {}): void {
    const endMs = this.nowMs + ms;
    while (this.membership.nextAtMs <= endMs) {
      this.nowMs = Math.max(this.nowMs, this.membership.nextAtMs);
      for (const effect of this.apply({ type: "ticked" })) answer(effect, this);
    }
    this.nowMs = endMs;
  }

  /** Messages of one type that were sent so far. */
  sent<Type extends ProbeMessage["type"]>(type: Type): { peer: PeerId; message: Sent<Type> }[] {
    return this.effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === type
        ? [{ peer: effect.peer, message: effect.message as Sent<Type> }]
        : []
    );
  }

  /** Rumours that were gossiped so far. */
  get published(): Rumour[] {
    return this.effects.flatMap((effect) => effect.type === "publish" ? [effect.rumour] : []);
  }

  /** Reasons for which rumours were refused so far. */
  get refused(): string[] {
    return this.effects.flatMap((effect) => effect.type === "count" ? [effect.reason] : []);
  }

  statusOf(peer: PeerId): string {
    const status = this.membership.get(peer);
    return status ? `${status.status}/${status.reason}` : "unknown";
  }

  /** The peers nearest to one, nearest first: its watchers are the first three. */
  nearest(peer: PeerId, count: number): PeerId[] {
    return this.membership.table.roster.watchersOf(peer, count, () => false);
  }
}

/** An answer of a living peer that holds and knows nothing. */
export function ackOf(
  seq: number,
  incarnation: Incarnation = { epoch: 1, counter: 0 },
): Sent<"ack"> {
  return { type: "ack", seq, incarnation, root: "0".repeat(16), departed: 0, rumours: [] };
}

/** Lets everybody but some answer every probe at once, and helpers say what they hear. */
export function answering(
  ...silent: PeerId[]
): (effect: MemberEffect, node: MembershipNode) => void {
  return (effect, node) => {
    if (effect.type !== "send" || silent.includes(effect.peer)) return;
    const { peer, message } = effect;
    if (message.type === "probe") node.receive(peer, ackOf(message.seq));
    if (message.type !== "ask") return;
    const isHeard = !silent.includes(message.target);
    const heard = isHeard ? { incarnation: { epoch: 1, counter: 0 } } : {};
    node.receive(peer, { type: "answer", seq: message.seq, ...heard });
  };
}

/** A rumour with the right signature. */
export function rumourOf(
  kind: RumourKind,
  subject: PeerId,
  signer: PeerId = subject,
  incarnation: Incarnation = {
    epoch: 1,
    counter: kind === "goodbye" || kind === "drained" ? 2 ** 32 - 1 : 0,
  },
): Rumour {
  const rumour = { kind, subject, incarnation, signer };
  return { ...rumour, signature: signatureOf(signer, signedBytes(network, rumour)) };
}

/** Stands for a signature: depends on the signer and on every byte. */
export function signatureOf(signer: PeerId, message: Uint8Array): Uint8Array {
  const signature = new Uint8Array(64);
  for (let at = 0; at < signer.length; at++) signature[at % 64] ^= signer.charCodeAt(at);
  let hash = 0x811c9dc5;
  for (const byte of message) hash = Math.imul(hash ^ byte, 0x01000193);
  new DataView(signature.buffer).setUint32(60, hash >>> 0);
  return signature;
}

export function isSignatureOf(signer: PeerId, message: Uint8Array, signature: Uint8Array): boolean {
  const right = signatureOf(signer, message);
  return signature.length === right.length && right.every((byte, at) => byte === signature[at]);
}
