// How much may others ask of our libp2p host?
import type { Role } from "../registry/claim.ts";
import { type Bytes, KiB, MiB, type Ms, secondMs } from "../base/units.ts";

/** Open connections. libp2p's 300 is less than one busy head's workers; beyond it libp2p closes some. */
export function connectionsMax(role: Role): number {
  return role === "worker" ? 1_000 : 20_000;
}

/** New connections a second from one host. libp2p's 5 refuses a Slurm array behind one NAT (C049). */
export const inboundPerSecondMax = 1_000;

/** Inbound connections still shaking hands. libp2p's 10 refuses what starts together (C049). */
export const inboundPendingMax = 1_000;

/** Dials waiting or running inside libp2p (DHT, gossip); libp2p's 500 is below a mesh of 1,000. */
export const dialQueueMax = 5_000;

/** Addresses of one peer that are tried; a claim carries at most 32, libp2p's 25 would drop the good one. */
export const addressesMax = 32;

/** libp2p tries addresses one by one, 6 s each, 10 s in all; a dead one must not use that up. */
export const addressDialMs: Ms = 2 * secondMs;

/** Streams of one protocol on one connection, each way; libp2p's 32 and 64 end busy pairs. */
export const protocolStreamsMax = 1_024;

/** Streams of one connection, each way; libp2p's 1,000 is shared by all protocols. */
export const connectionStreamsMax = 10_000;

/**
 * Both sides of yamux must assume the same first window (the wire does not tell it), so these two are part of
 * our protocol (protocol §5). libp2p's 256 KiB takes several round trips to open.
 */
export const streamWindowInitial: Bytes = 1 * MiB;
export const streamWindowMax: Bytes = 16 * MiB;

/** What libp2p may hold unsent for one stream; unbounded by default. `MeshStream` stays far below. */
export const streamUnsentMax: Bytes = 2 * MiB;

/** Received and not taken. A lane is always read; this meets a handler that is late. At least a window. */
export const streamUnreadMax: Bytes = streamWindowMax + 64 * KiB;

/** One gossip message; a claim with its envelope is below 20 KiB. Larger ones are rejected by our validator. */
export const gossipBytesMax: Bytes = 64 * KiB;

/**
 * One frame of gossip, which may answer with several messages at once: were it as small as a message, a good
 * neighbour's answer would end its stream. Unbounded by default.
 */
export const gossipFrameMax: Bytes = 1 * MiB;

/** Gossip waiting for one slow neighbour; unbounded by default. */
export const gossipUnsentMax: Bytes = 4 * MiB;

/** Neighbours are told that a message need not be sent again when it is as large; a claim has about 1 KiB. By default 512 bytes. */
export const gossipNoteMin: Bytes = 4 * KiB;

/** Neighbours that a message is told to; with fewer a mesh falls into parts. Measured with `bench churn`. */
export const gossipDegree = 3;
