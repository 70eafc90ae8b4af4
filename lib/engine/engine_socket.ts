// What is a connection to an engine, as bytes?

/** Who hears a socket. Nothing comes after `ended`. */
export type SocketHandlers = {
  /** @param chunk Valid until the call returns. */
  bytes(chunk: Uint8Array): void;
  /** The engine closed its side, or, with an error, the connection broke. */
  ended(error: Error | undefined): void;
};

/** An open connection (port; `deno_socket.ts` and `node_socket.ts`). */
export type EngineSocket = {
  /** Begins to read; once. */
  bind(handlers: SocketHandlers): void;
  /** @param bytes Not changed by anybody until it settles. @throws {Error} When not all of them left. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Reads no more until `resume`; what was read already may still come. Idempotent. */
  pause(): void;
  /** Idempotent. */
  resume(): void;
  /** Tells no handler. Idempotent. */
  close(): void;
};
