// What does this node remember of the services it has sent requests to?
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";

/** A peer's service: the unit of load, since two services of a peer are two engines. */
export type Seat = { readonly peer: PeerId; readonly service: string };

/** Seats remembered; the claims of an open mesh (protocol §1). Seats with requests in flight are never dropped. */
export const loadSeatsMax = 10_000;
/** Share of the newest sample in the average: about the last ten count; a guess. */
export const latencyWeight = 0.2;
/** An older average says nothing: else a worker that was slow once would never be asked again. A guess. */
export const latencyAgeMaxMs: Ms = 10 * secondMs;
/** For so long a service that could not be reached is asked last; membership needs about as long to notice. */
export const coolDownMs: Ms = 1 * secondMs;
/** A worker's own word on its load counts for so long; it comes with each answer. A guess. */
export const reportedAgeMaxMs: Ms = 2 * secondMs;

type Load = {
  inFlightCount: number;
  latencyMs: Ms;
  latencyAtMs: Ms;
  reportedCount: number;
  reportedAtMs: Ms;
  /** Asked last until then. */
  coolUntilMs: Ms;
};

/** One request in flight, from dispatch to the end of its answer. */
export interface LoadTicket {
  /** The head of the answer is here: one sample of the latency. Later calls do nothing. */
  headArrived(nowMs: Ms): void;
  /** The exchange is over, well or not; the only place where the count goes down. Later calls do nothing. */
  finished(): void;
}

/**
 * Requests in flight, latency and recent failures per seat, as this node alone has seen them. Counts are exact:
 * a ticket goes up once and down once, whatever happens in between. Memory is bounded by `loadSeatsMax`.
 */
export class LoadBook {
  readonly #services = new Map<string, Map<PeerId, Load>>();
  #seatCount = 0;
  /** Until then some seat may be cooling down; lets requests skip the question while nothing fails. */
  #anyCoolingUntilMs = -Infinity;

  /** A request leaves for the seat. The caller must finish the ticket in every case. */
  started(seat: Seat, nowMs: Ms): LoadTicket {
    const load = this.#loadOf(seat);
    load.inFlightCount++;
    return new Ticket(load, nowMs);
  }

  /**
   * An attempt failed without reaching the engine, or the worker asked to be left alone.
   * @param forMs So long the seat is asked last.
   */
  failed(seat: Seat, nowMs: Ms, forMs: Ms = coolDownMs): void {
    this.#loadOf(seat).coolUntilMs = nowMs + forMs;
    this.#anyCoolingUntilMs = Math.max(this.#anyCoolingUntilMs, nowMs + forMs);
  }

  /** The worker says how many requests it has running and waiting, from all heads together. */
  reported(seat: Seat, count: number, nowMs: Ms): void {
    const load = this.#loadOf(seat);
    load.reportedCount = count;
    load.reportedAtMs = nowMs;
  }

  /** Requests of this node at the seat now. */
  inFlightCount(seat: Seat): number {
    return this.#find(seat)?.inFlightCount ?? 0;
  }

  /** The larger of our own count and what the worker said lately. */
  loadCount(seat: Seat, nowMs: Ms): number {
    const load = this.#find(seat);
    if (!load) return 0;
    const isFresh = nowMs - load.reportedAtMs <= reportedAgeMaxMs;
    return isFresh ? Math.max(load.inFlightCount, load.reportedCount) : load.inFlightCount;
  }

  /** Average time to the head of an answer; `undefined` when nothing recent is known. */
  latencyMs(seat: Seat, nowMs: Ms): Ms | undefined {
    const load = this.#find(seat);
    return load && nowMs - load.latencyAtMs <= latencyAgeMaxMs ? load.latencyMs : undefined;
  }

  /** Whether the seat is to be asked last. */
  isCoolingDown(seat: Seat, nowMs: Ms): boolean {
    if (nowMs >= this.#anyCoolingUntilMs) return false;
    const load = this.#find(seat);
    return load !== undefined && nowMs < load.coolUntilMs;
  }

  /** Seats in the book, busy or remembered. */
  get seatCount(): number {
    return this.#seatCount;
  }

  #find({ peer, service }: Seat): Load | undefined {
    return this.#services.get(service)?.get(peer);
  }

  #loadOf({ peer, service }: Seat): Load {
    let peers = this.#services.get(service);
    if (!peers) this.#services.set(service, peers = new Map());
    let load = peers.get(peer);
    if (!load) {
      if (this.#seatCount >= loadSeatsMax) this.#forgetIdle();
      load = {
        inFlightCount: 0,
        latencyMs: 0,
        latencyAtMs: -Infinity,
        reportedCount: 0,
        reportedAtMs: -Infinity,
        coolUntilMs: -Infinity,
      };
      // Forgetting may have removed the service's own map.
      this.#services.set(service, peers.set(peer, load));
      this.#seatCount++;
    }
    return load;
  }

  /** All idle seats at once: what is lost is learnt again within a few requests, and full books are rare. */
  #forgetIdle(): void {
    for (const [service, peers] of this.#services) {
      for (const [peer, load] of peers) {
        if (load.inFlightCount > 0) continue;
        peers.delete(peer);
        this.#seatCount--;
      }
      if (peers.size === 0) this.#services.delete(service);
    }
  }
}

class Ticket implements LoadTicket {
  #hasHead = false;
  #isFinished = false;

  constructor(readonly load: Load, readonly startedAtMs: Ms) {}

  headArrived(nowMs: Ms): void {
    if (this.#hasHead || this.#isFinished) return;
    this.#hasHead = true;
    const { load } = this;
    const sampleMs = nowMs - this.startedAtMs;
    const isKnown = nowMs - load.latencyAtMs <= latencyAgeMaxMs;
    load.latencyMs = isKnown
      ? load.latencyMs + latencyWeight * (sampleMs - load.latencyMs)
      : sampleMs;
    load.latencyAtMs = nowMs;
  }

  finished(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.load.inFlightCount--;
  }
}
