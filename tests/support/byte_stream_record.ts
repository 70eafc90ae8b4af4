// What did a byte stream tell its owner?
import type { ByteStream } from "../../lib/base/byte_stream.ts";

/** Everything one end was told, and promises for what tests wait for. */
export type ByteStreamRecord = {
  bytes(): Uint8Array;
  /** Resolves once this many bytes arrived in all. */
  hasBytes(count: number): Promise<void>;
  /** Resolves at the next `drained`. */
  drained(): Promise<void>;
  drainedCount(): number;
  /** Resolves with what `closed` was given. */
  readonly closed: Promise<Error | undefined>;
  isClosed(): boolean;
  closedCount(): number;
};

/** Binds a stream and keeps what it says; `onCall` runs at the start of every handler. */
export function recordStream(stream: ByteStream, onCall: () => void = () => {}): ByteStreamRecord {
  const pieces: Uint8Array[] = [];
  let byteCount = 0;
  let drainedCount = 0;
  let closedCount = 0;
  const waiting = new Set<() => void>();
  const closed = Promise.withResolvers<Error | undefined>();
  const tell = () => waiting.forEach((check) => check());
  stream.bind({
    data(chunk) {
      onCall();
      pieces.push(chunk.slice());
      byteCount += chunk.byteLength;
      tell();
    },
    drained() {
      onCall();
      drainedCount++;
      tell();
    },
    closed(error) {
      onCall();
      closedCount++;
      closed.resolve(error);
    },
  });
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isTrue()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return {
    bytes: () => concatenate(pieces, byteCount),
    hasBytes: (count) => until(() => byteCount >= count),
    drained: () => {
      const seen = drainedCount;
      return until(() => drainedCount > seen);
    },
    drainedCount: () => drainedCount,
    closed: closed.promise,
    isClosed: () => closedCount > 0,
    closedCount: () => closedCount,
  };
}

function concatenate(pieces: readonly Uint8Array[], byteCount: number): Uint8Array {
  const whole = new Uint8Array(byteCount);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.byteLength;
  }
  return whole;
}
