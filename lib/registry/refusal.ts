// Why was an envelope not taken?

/** Every reason for which an envelope is dropped; each is counted, none changes anything else. */
export type RefusalReason =
  /** No envelope, or a field out of its bounds. */
  | "malformed"
  /** The envelope or its document is over the size bound. */
  | "too_large"
  /** Signed for another mesh. */
  | "wrong_network"
  /** `peers.deny` names the owner or its wallet. */
  | "denied"
  /** The proof of the network's secret is absent or wrong. */
  | "not_admitted"
  /** The public key belongs to another PeerId. */
  | "wrong_key"
  | "bad_signature"
  /** The document is not the one that was signed. */
  | "wrong_document"
  /** We hold this state or a newer one. */
  | "stale"
  /** At or below what we remember of an ended lease. */
  | "floored"
  /** The sender says that its lease is over. */
  | "expired"
  /** A renewal of a document that we do not hold. */
  | "no_document"
  /** The loader refused this document within the hour. */
  | "refused_before"
  /** Loading took too long or crashed the loader. */
  | "overrun"
  /** The document holds no valid claim. */
  | "bad_claim"
  /** The table is full and the owner has no connection to us. */
  | "table_full"
  /** The connection brought too many new owners within a minute (open meshes only). */
  | "too_many_owners"
  /** Too much waits to be looked at. */
  | "overloaded";
