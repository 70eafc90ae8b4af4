// What do we ask the DHT?
import type { ContentRouting, PeerInfo, PeerRouting } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { CID } from "multiformats/cid";
import { create as createDigest } from "multiformats/hashes/digest";
import { createHash } from "node:crypto";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";

/** Codes of the multiformats table: raw bytes, SHA-256. */
const rawCode = 0x55;
const sha256Code = 0x12;

/** One question; nobody waits for it on the path of a request. */
const answerWithinMs: Ms = 5 * secondMs;

/** Heads taken from one answer: twice as many as a node stays connected to. */
const headsMax = 16;

export type DirectoryHost = {
  readonly contentRouting: ContentRouting;
  readonly peerRouting: PeerRouting;
};

/**
 * The two questions that the DHT answers: who else is a head or relay of this network, and where is a peer now
 * that its addresses fail. An empty DHT answers nothing, and the mesh works without.
 */
export class Directory {
  readonly #host: DirectoryHost;
  readonly #heads: CID;

  /** @param network Part of the record's name, as of the DHT's protocol. */
  constructor(host: DirectoryHost, network: string) {
    this.#host = host;
    const digest = createHash("sha256").update(`/otela/${network}/heads`).digest();
    this.#heads = CID.createV1(rawCode, createDigest(sha256Code, digest));
  }

  /** Says that this node is a head or relay; the DHT renews it while the node lives. */
  async announce(): Promise<void> {
    await this.#host.contentRouting.provide(this.#heads, within());
  }

  /** Addresses, with PeerIds, of heads and relays; none when nobody knows. */
  async heads(): Promise<string[]> {
    const found: PeerInfo[] = [];
    try {
      for await (const head of this.#host.contentRouting.findProviders(this.#heads, within())) {
        found.push(head);
        if (found.length === headsMax) break;
      }
    } catch {
      // Asked in vain or too long: what was found until then counts.
    }
    return found.flatMap(addressesOf);
  }

  /** Addresses, with its PeerId, at which others see a peer now; none when nobody knows. */
  async locate(peer: PeerId): Promise<string[]> {
    try {
      return addressesOf(await this.#host.peerRouting.findPeer(peerIdFromString(peer), within()));
    } catch {
      return [];
    }
  }
}

function within(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(answerWithinMs) };
}

function addressesOf({ id, multiaddrs }: PeerInfo): string[] {
  return multiaddrs.map((address) => {
    const text = address.toString();
    return text.includes("/p2p/") ? text : `${text}/p2p/${id}`;
  });
}
