// What does this node know of one request besides the request itself?
import type { HeaderList } from "../exchange/types.ts";
import type { Ms } from "../base/units.ts";

/** Facts about one request that travel with it through the gateway. */
export type RequestContext = {
  /** Taken from the client when sane, else ours; on every answer and in every log record. */
  readonly requestId: string;
  /** Monotonic, local. */
  readonly receivedAtMs: Ms;
  /** Host part of the address of the connection; empty for a Unix socket. Read only when needed: it costs 1 µs. */
  readonly remoteAddress: string;
  /** A WebSocket is asked for; other upgrades never come this far. */
  readonly isUpgrade: boolean;
  /**
   * The headers as they arrived, names in lower case, without `x-api-key`. Read once here, since a second
   * walk costs 2 µs.
   */
  readonly headers: HeaderList;
};

/** Longest request id that is accepted from a client. */
export const requestIdCharactersMax = 128;

const sane = /^[A-Za-z0-9][A-Za-z0-9._:=+/-]*$/;

/**
 * Says whether a client's own request id may stand in our logs and answers.
 * @param text Untrusted, of any length.
 */
export function isRequestId(text: string): boolean {
  return text.length <= requestIdCharactersMax && sane.test(text);
}

/**
 * Makes ids that are unique in a mesh: 12 random hex digits of this process, then a count.
 * @param prefix Random, of this process: `0a1b2c3d4e5f`.
 */
export function requestIds(prefix: string): () => string {
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
