// How do messages reach every node of the network?
import { type GossipSub, TopicValidatorResult } from "@libp2p/gossipsub";
import { OtelaError } from "../base/errors.ts";
import { parsePeerId, type PeerId } from "../base/peer_id.ts";
import { gossipBytesMax } from "./host_limits.ts";
import type { GossipVerdict } from "./types.ts";
import type { MeshCounters } from "./mesh_counters.ts";

const counterOf = {
  accept: "gossip_accepted",
  ignore: "gossip_ignored",
  reject: "gossip_rejected",
} as const;

const resultOf: Record<GossipVerdict, TopicValidatorResult> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
};

/** One topic of gossipsub, with a validator that decides before anything is passed on. */
export class Gossip {
  readonly #gossip: GossipSub;
  readonly #topic: string;
  #validate: (from: PeerId, bytes: Uint8Array) => GossipVerdict = () => "ignore";

  /** @param isAdmitted Whether that neighbour may gossip; what others send is ignored. */
  constructor(
    gossip: GossipSub,
    topic: string,
    isAdmitted: (peer: PeerId) => boolean,
    counters: MeshCounters,
  ) {
    this.#gossip = gossip;
    this.#topic = topic;
    gossip.topicValidators.set(topic, (neighbour, { data }) => {
      const from = parsePeerId(neighbour.toString());
      const verdict = !isAdmitted(from)
        ? "ignore"
        : data.byteLength > gossipBytesMax
        ? "reject"
        : this.#validate(from, data);
      counters.add(counterOf[verdict]);
      return resultOf[verdict];
    });
  }

  /** To be called once libp2p has started. */
  start(): void {
    this.#gossip.subscribe(this.#topic);
  }

  onMessage(validate: (from: PeerId, bytes: Uint8Array) => GossipVerdict): void {
    this.#validate = validate;
  }

  /** @throws {OtelaError} `bad_request` when the message is larger than others accept. */
  async publish(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength > gossipBytesMax) {
      throw new OtelaError(
        "bad_request",
        `Cannot gossip as a message has at most ${gossipBytesMax} bytes: it has ${bytes.byteLength}`,
      );
    }
    await this.#gossip.publish(this.#topic, bytes);
  }
}
