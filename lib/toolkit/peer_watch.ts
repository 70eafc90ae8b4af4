// What has changed among the peers since the program last looked?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { NodeInside } from "../node/node_inside.ts";
import { isSamePeer, type Peer, peersOf } from "./peer.ts";

/**
 * One difference between what a program was told and what is so now.
 *
 * @example Waits until another node is seen
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type PeerChange, startNode } from "@otela/otela";
 *
 * await using head = await startNode({ role: "head" });
 * await using worker = await startNode({ bootstrap: head.multiaddrs() });
 * const isWorker = ({ type, peer }: PeerChange) => type !== "gone" && peer.id === worker.peerId;
 * for await (const change of head.watch()) {
 *   if (isWorker(change)) break;
 * }
 * equal(head.peers().length, 2);
 * ```
 */
export type PeerChange = {
  /** `seen`: not told of before; `changed`: says or is something else; `gone`: its claim ended. */
  readonly type: "seen" | "changed" | "gone";
  /** As it is now; when gone, as it last was. */
  readonly peer: Peer;
};

/** Changes within this time are told together: a mesh of a thousand that is joined comes in many pieces. A guess. */
const gatherMs: Ms = 20;

/**
 * Tells of every peer that is known, then of changes, until a signal aborts. A slow reader loses steps in between and
 * never the last state: nothing is queued but the differences of one look, at most one for each peer.
 */
export async function* watchPeers(
  inside: Pick<NodeInside, "table" | "onChange">,
  signals: readonly AbortSignal[],
): AsyncGenerator<PeerChange, void, void> {
  const told = new Map<PeerId, Peer>();
  const bell = new Bell();
  const unsubscribe = inside.onChange(() => bell.ringSoon());
  const abort = () => bell.ring();
  const isOver = () => signals.some(({ aborted }) => aborted);
  for (const signal of signals) signal.addEventListener("abort", abort);
  try {
    while (!isOver()) {
      for (const change of differences(told, peersOf(inside.table()))) {
        if (change.type === "gone") told.delete(change.peer.id);
        else told.set(change.peer.id, change.peer);
        yield change;
        if (isOver()) return;
      }
      await bell.rung();
    }
  } finally {
    unsubscribe();
    for (const signal of signals) signal.removeEventListener("abort", abort);
    bell.close();
  }
}

function differences(told: ReadonlyMap<PeerId, Peer>, now: readonly Peer[]): PeerChange[] {
  const changes: PeerChange[] = [];
  const here = new Set<PeerId>();
  for (const peer of now) {
    here.add(peer.id);
    const before = told.get(peer.id);
    if (!before) changes.push({ type: "seen", peer });
    else if (!isSamePeer(before, peer)) changes.push({ type: "changed", peer });
  }
  for (const peer of told.values()) if (!here.has(peer.id)) changes.push({ type: "gone", peer });
  return changes;
}

/** Remembers that it rang until somebody asks. */
class Bell {
  private hasRung = false;
  private wake: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  ring(): void {
    this.hasRung = true;
    this.wake?.();
  }

  ringSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.ring();
    }, gatherMs);
  }

  async rung(): Promise<void> {
    if (!this.hasRung) await new Promise<void>((resolve) => this.wake = resolve);
    this.hasRung = false;
  }

  close(): void {
    clearTimeout(this.timer);
  }
}
