// What do two nodes say to each other about who is here?
//
//   [1, seq, epoch, counter, root, departed, rumours?, accusedEpoch?, accusedCounter?]   are you here?
//   [2, seq, epoch, counter, root, departed, rumours?]                                   I am
//   [3, seq, target]                          ask it for me
//   [4, seq, epoch?, counter?]                it answered; without an incarnation: it did not
//   [5, target, epoch, counter, silentMs]     I suspect this peer, which you watch too
//   [6, departedBuckets]                      tell me who has left, where we differ
//   [7, rumours]                              here is who has left, or what else is true of them
//
// `root` is the registry's, 8 bytes. Nothing here is signed but rumours, as connections are authenticated. Other types
// and further fields are skipped, so that later versions may add some.
import { decodeCbor, encodeCbor } from "../base/cbor.ts";
import { OtelaError } from "../base/errors.ts";
import { isPeerId, type PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB, type Ms } from "../base/units.ts";
import { digestBucketCount } from "./departed_digest.ts";
import type { Incarnation } from "./incarnation.ts";
import { packRumour, type Rumour, unpackIncarnation, unpackRumour } from "./rumour.ts";

/** Of the sender: how it is, what it holds. */
export type ProbeState = {
  readonly incarnation: Incarnation;
  /** Of the registry, 16 hexadecimal digits. */
  readonly root: string;
  /** Digest of who has left, 32 bits. */
  readonly departed: number;
};

export type ProbeMessage =
  | ProbeState & {
    readonly type: "probe";
    readonly seq: number;
    readonly rumours: readonly Rumour[];
    /** Others say that the receiver has left, at this incarnation of it. */
    readonly accused?: Incarnation;
  }
  | ProbeState & { readonly type: "ack"; readonly seq: number; readonly rumours: readonly Rumour[] }
  | { readonly type: "ask"; readonly seq: number; readonly target: PeerId }
  | { readonly type: "answer"; readonly seq: number; readonly incarnation?: Incarnation }
  | {
    readonly type: "suspect";
    readonly target: PeerId;
    readonly incarnation: Incarnation;
    /** Since the first probe that was not answered. */
    readonly silentMs: Ms;
  }
  | { readonly type: "compare"; readonly buckets: readonly number[] }
  | { readonly type: "rumours"; readonly rumours: readonly Rumour[] };

/** Longest message, without its length. */
export const probeMessageBytesMax: Bytes = 16 * KiB;
/** Rumours in one message: 64 of 190 bytes stay below the bound. */
export const rumoursPerListMax = 64;
const silentMsMax: Ms = 60_000;

/** Our own message. */
export function encodeProbeMessage(message: ProbeMessage): Uint8Array {
  return encodeCbor(packed(message));
}

/**
 * @param bytes Untrusted.
 * @returns `undefined` for a type that we do not know.
 * @throws {OtelaError} `bad_request` when a known message has another form: end the stream.
 */
export function decodeProbeMessage(bytes: Uint8Array): ProbeMessage | undefined {
  const parts = decodeCbor(bytes, probeMessageBytesMax);
  if (!Array.isArray(parts)) throw malformed("a list");
  const [type, first] = parts;
  switch (type) {
    case 1: {
      const message = {
        type: "probe" as const,
        seq: seqOf(first),
        ...stateOf(parts),
        rumours: rumoursOf(parts[6]),
      };
      if (parts[7] === undefined || parts[7] === null) return message;
      return { ...message, accused: unpackIncarnation(parts[7], parts[8]) };
    }
    case 2:
      return { type: "ack", seq: seqOf(first), ...stateOf(parts), rumours: rumoursOf(parts[6]) };
    case 3:
      return { type: "ask", seq: seqOf(first), target: peerOf(parts[2]) };
    case 4:
      if (parts[2] === undefined || parts[2] === null) return { type: "answer", seq: seqOf(first) };
      return {
        type: "answer",
        seq: seqOf(first),
        incarnation: unpackIncarnation(parts[2], parts[3]),
      };
    case 5: {
      const silentMs = Number.isSafeInteger(parts[4])
        ? Math.min(Math.max(parts[4], 0), silentMsMax)
        : 0;
      const incarnation = unpackIncarnation(parts[2], parts[3]);
      return { type: "suspect", target: peerOf(first), incarnation, silentMs };
    }
    case 6:
      return { type: "compare", buckets: bucketsOf(first) };
    case 7:
      return { type: "rumours", rumours: rumoursOf(first) };
    default:
      return undefined;
  }
}

function packed(message: ProbeMessage): unknown[] {
  switch (message.type) {
    case "probe":
    case "ack": {
      const { type, seq, incarnation: { epoch, counter }, root, departed, rumours } = message;
      const fields: unknown[] = [
        type === "probe" ? 1 : 2,
        seq,
        epoch,
        counter,
        rootBytes(root),
        departed,
      ];
      const accused = type === "probe" ? message.accused : undefined;
      if (rumours.length > 0 || accused) fields.push(rumours.map(packRumour));
      if (accused) fields.push(accused.epoch, accused.counter);
      return fields;
    }
    case "ask":
      return [3, message.seq, message.target];
    case "answer": {
      const { seq, incarnation } = message;
      return incarnation ? [4, seq, incarnation.epoch, incarnation.counter] : [4, seq];
    }
    case "suspect": {
      const { target, incarnation: { epoch, counter }, silentMs } = message;
      return [5, target, epoch, counter, Math.round(silentMs)];
    }
    case "compare":
      return [6, message.buckets];
    case "rumours":
      return [7, message.rumours.map(packRumour)];
  }
}

function stateOf(parts: readonly unknown[]): ProbeState {
  const incarnation = unpackIncarnation(parts[2], parts[3]);
  if (!(parts[4] instanceof Uint8Array) || parts[4].byteLength !== 8) {
    throw malformed("a root of 8 bytes");
  }
  return { incarnation, root: rootText(parts[4]), departed: uint32(parts[5]) };
}

function rumoursOf(value: unknown): Rumour[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > rumoursPerListMax) {
    throw malformed(`lists of at most ${rumoursPerListMax} rumours`);
  }
  return value.map(unpackRumour);
}

function bucketsOf(value: unknown): number[] {
  if (!Array.isArray(value) || value.length !== digestBucketCount) {
    throw malformed(`${digestBucketCount} buckets`);
  }
  return value.map(uint32);
}

function peerOf(value: unknown): PeerId {
  if (typeof value === "string" && isPeerId(value)) return value;
  throw malformed("a PeerId as target");
}

function seqOf(value: unknown): number {
  return uint32(value);
}

function uint32(value: unknown): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32) {
    return Number(value);
  }
  throw malformed("numbers of 32 bit");
}

function rootBytes(root: string): Uint8Array {
  return Uint8Array.from(
    { length: 8 },
    (_, at) => Number.parseInt(root.slice(2 * at, 2 * at + 2), 16),
  );
}

function rootText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function malformed(rule: string): OtelaError {
  return new OtelaError("bad_request", `Cannot read a probe message as it must have ${rule}`);
}
