// What does a lane or a sync need from a connection to a peer?
import type { Bytes } from "./units.ts";

/** What the owner of a stream is told. Called in order; nothing comes after `closed`. */
export type ByteStreamHandlers = {
  /** Bytes arrived, cut anywhere. They belong to the receiver until the call returns: copy what is kept. */
  data(chunk: Uint8Array): void;
  /** `send` returned false before and the stream takes bytes again. */
  drained(): void;
  /** Both directions are over: `undefined` after a clean end, else why. Called exactly once. */
  closed(error: Error | undefined): void;
};

/**
 * One ordered, reliable, authenticated byte stream between this node and a peer (port; the mesh has the
 * libp2p adapter, tests have an in-memory pair, and both pass `tests/contract/byte_stream.ts`).
 */
export interface ByteStream {
  /** Must be called once, synchronously after the stream was handed over. Bytes wait until then. */
  bind(handlers: ByteStreamHandlers): void;
  /**
   * Sends bytes, in order; takes them over (the caller must not change them afterwards).
   * @returns Whether more may be sent now; after `false` wait for `drained`. Bytes are accepted either way.
   */
  send(bytes: Uint8Array): boolean;
  /** Accepted but not yet taken by the connection. */
  readonly unsentBytes: Bytes;
  /** Whether this stream runs over a relay, so that a better path can replace it. */
  readonly isRelayed: boolean;
  /** Ends our direction after what was sent; `closed` follows when the other side ends too. */
  close(): void;
  /** Ends both directions at once; `closed` follows with the reason. */
  abort(reason: Error): void;
}
