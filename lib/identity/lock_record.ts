// What stands in a lock file?
import type { ProcessMark } from "./process_mark.ts";

/** Who holds a lock, or held it. */
export type LockRecord = ProcessMark & {
  /** Differs for each acquisition, also of one process. */
  readonly token: string;
  /** Counted up while held; the file's own time says when. */
  readonly heartbeat: number;
  /** Whether the holder gave it back. */
  readonly isReleased: boolean;
};

/** A record has some 300 bytes. */
export const lockRecordBytesMax = 4_096;

/** One line of JSON, for people too. */
export function encodeLockRecord(record: LockRecord): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(record)}\n`);
}

/** @returns `undefined` for a record that is not whole, such as one that is just being written. */
export function decodeLockRecord(bytes: Uint8Array): LockRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const record = value as Record<string, unknown>;
  const { token, host, bootId, pidNamespace, pid, startTicks, heartbeat, isReleased } = record;
  if (typeof token !== "string" || typeof host !== "string") return undefined;
  if (typeof bootId !== "string" || typeof pidNamespace !== "string") return undefined;
  if (typeof isReleased !== "boolean") return undefined;
  if (!isCount(pid) || !isCount(startTicks) || !isCount(heartbeat)) return undefined;
  return { token, host, bootId, pidNamespace, pid, startTicks, heartbeat, isReleased };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
