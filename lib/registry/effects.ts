// What does the registry ask of the node?
import type { PeerId } from "../base/peer_id.ts";
import type { EnvelopeHead } from "./order.ts";
import type { RefusalReason } from "./refusal.ts";

/** Two living processes use one key. */
export type DuplicateHosts = {
  readonly ownHost: string;
  /** As the other process names its host; empty when its document could not be read. */
  readonly otherHost: string;
};

/** Effects of the owner's half; to be carried out in order. */
export type OwnEffect =
  /** Keep the epoch in the file beside the key, before anything that follows is sent. */
  | { readonly type: "storeEpoch"; readonly epoch: number }
  /** Spread this envelope of our own to everybody. */
  | { readonly type: "publish"; readonly envelope: Uint8Array }
  /** Say it to a person: an error. */
  | { readonly type: "reportDuplicate"; readonly hosts: DuplicateHosts }
  /** End this process with exit code 3: it started later than another one with its key. */
  | { readonly type: "yieldIdentity"; readonly hosts: DuplicateHosts }
  /** Say it to a person: our own claim is out of its bounds, so the previous one stays published. */
  | { readonly type: "reportClaimRefused"; readonly message: string };

/** Effects of the whole registry; to be carried out in order. */
export type RegistryEffect =
  | OwnEffect
  /** Load the document away from this thread and answer with `claimLoaded`. */
  | {
    readonly type: "loadClaim";
    readonly head: EnvelopeHead;
    readonly document: Uint8Array;
  }
  /** Send this envelope to one peer: it is behind on its own claim. */
  | { readonly type: "reply"; readonly peer: PeerId; readonly envelope: Uint8Array }
  /** The claim of this owner is new or another than before. */
  | { readonly type: "announceChanged"; readonly owner: PeerId }
  /** The owner has no claim any more. */
  | {
    readonly type: "announceRemoved";
    readonly owner: PeerId;
    readonly reason: "expired" | "withdrawn" | "displaced";
  }
  /** Add one to the counter of this reason. */
  | { readonly type: "count"; readonly reason: RefusalReason };
