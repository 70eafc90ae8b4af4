// How does a client hear of changes in the mesh as they happen?
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { peerRecord } from "./peer_record.ts";
import type { ClientDoorPorts, TableEntry } from "./ports.ts";

/** Changes within this time are told together: a mesh of a thousand that is joined comes in many pieces. A guess. */
const gatherMs: Ms = 20;
/** A comment now and then keeps proxies from ending a stream in which nothing happens. A guess: half of a common 30 s. */
const commentEveryMs: Ms = 15 * secondMs;
/** Streams at once; each look of one at a table of 1,000 takes about a millisecond. A guess. */
export const eventStreamsMax = 64;

const encoder = new TextEncoder();

/** What the events need of the door. */
export type PeerEventPorts = Pick<
  ClientDoorPorts,
  "config" | "clock" | "wallClock" | "table" | "onChange" | "readiness"
>;

/**
 * `GET /v1/dnt/events`: every peer as `seen`, then changes as `changed` and `gone`, each with the peer's record of
 * `/v1/dnt/table`. Nothing is queued for a slow reader but the differences of its next look: it loses steps in between
 * and never the last state.
 */
export class PeerEvents {
  private openCount = 0;

  constructor(private readonly ports: PeerEventPorts) {}

  /** @throws {OtelaError} `overloaded` when too many are open. */
  answer(): Response {
    if (this.openCount >= eventStreamsMax) {
      throw new OtelaError(
        "overloaded",
        `Cannot open another stream of events as at most ${eventStreamsMax} may be open: all are`,
      );
    }
    const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
    return new Response(this.stream(), { headers });
  }

  /** Nothing happens before somebody reads, so `HEAD` opens nothing. */
  private stream(): ReadableStream<Uint8Array> {
    const told = new Map<PeerId, TableEntry>();
    let watch: Watch | undefined;
    const end = () => {
      if (!watch) return;
      watch.end();
      watch = undefined;
      this.openCount--;
    };
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (!watch) {
          this.openCount++;
          watch = new Watch(this.ports.onChange);
        }
        for (;;) {
          // A node that stops waits for its answers: this one would never end.
          const state = this.ports.readiness();
          if (!state.isReady && state.isStopping) {
            end();
            return controller.close();
          }
          const text = this.differences(told);
          if (text !== "") return controller.enqueue(encoder.encode(text));
          const why = await watch.next();
          if (why === "ended") return;
          if (why === "quiet") return controller.enqueue(encoder.encode(":\n\n"));
        }
      },
      cancel: end,
    }, { highWaterMark: 0 });
  }

  /** What is other than it was told, as events; then it counts as told. */
  private differences(told: Map<PeerId, TableEntry>): string {
    const { table, clock, wallClock, config } = this.ports;
    const options = { nowMs: clock.nowMs(), wallMs: wallClock(), isRedacted: config.isRedacted };
    const { entries } = table();
    const write = (type: string, entry: TableEntry) =>
      `event: ${type}\ndata: ${JSON.stringify(peerRecord(entry, options))}\n\n`;
    let text = "";
    for (const entry of entries) {
      const before = told.get(entry.peer);
      if (before && isSame(before, entry)) continue;
      told.set(entry.peer, entry);
      text += write(before ? "changed" : "seen", entry);
    }
    if (told.size === entries.length) return text;
    const here = new Set(entries.map(({ peer }) => peer));
    for (const [peer, entry] of told) {
      if (here.has(peer)) continue;
      told.delete(peer);
      text += write("gone", entry);
    }
    return text;
  }
}

/** Renewals of a lease make another entry that says the same. */
function isSame(a: TableEntry, b: TableEntry): boolean {
  return a.claim === b.claim && a.status.status === b.status.status &&
    a.status.reason === b.status.reason && a.connectedness === b.connectedness;
}

/** Waits for the next change. */
class Watch {
  private readonly unsubscribe: () => void;
  private settle: ((why: "changed" | "quiet" | "ended") => void) | undefined;
  private gathering: ReturnType<typeof setTimeout> | undefined;
  private hasChanged = false;

  constructor(onChange: PeerEventPorts["onChange"]) {
    this.unsubscribe = onChange(() => {
      this.hasChanged = true;
      this.gather();
    });
  }

  /** Settles with why there is something to do. */
  next(): Promise<"changed" | "quiet" | "ended"> {
    return new Promise((resolve) => {
      const quiet = setTimeout(() => this.settle?.("quiet"), commentEveryMs);
      const settle = (why: "changed" | "quiet" | "ended") => {
        clearTimeout(quiet);
        this.settle = undefined;
        this.hasChanged = false;
        resolve(why);
      };
      this.settle = settle;
      if (this.hasChanged) this.gather();
    });
  }

  end(): void {
    this.unsubscribe();
    clearTimeout(this.gathering);
    this.settle?.("ended");
  }

  private gather(): void {
    this.gathering ??= setTimeout(() => {
      this.gathering = undefined;
      this.settle?.("changed");
    }, gatherMs);
  }
}
