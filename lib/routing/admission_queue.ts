// Who waits for a free place, and who is next?
import type { Ms } from "../base/units.ts";

/** A request that waits. */
export type Waiter = {
  /** Who sent it: requests of one client wait behind each other, clients take turns. */
  readonly client: string;
  /** Greater goes first. */
  readonly priority: number;
  /** Until then it waits. */
  readonly deadlineMs: Ms;
};

/** What became of a new waiter, and who had to leave for it. */
export type Admission<W> =
  | { readonly isTaken: true; readonly evicted: W | undefined }
  | { readonly isTaken: false };

/**
 * What `X-Otela-Priority` asks for: a whole number from -9 to 9, greater first.
 * @param header Untrusted; `null` or anything else counts as 0.
 */
export function parsePriority(header: string | null): number {
  return header !== null && /^-?\d$/.test(header.trim()) ? Number(header) : 0;
}

/**
 * A bounded line in which nobody can crowd others out: greater priorities first, within one the clients in turn,
 * each client's requests in their order. When it is full, a client with fewer waiting displaces the last of the
 * one with the most, never somebody of a greater priority.
 */
export class AdmissionQueue<W extends Waiter> {
  /** Priority, then client, in the order of their turns, then that client's waiters. No list is empty. */
  readonly #classes = new Map<number, Map<string, W[]>>();
  #size = 0;

  /** @param waitersMax Not less than 1. */
  constructor(private readonly waitersMax: number) {}

  /** Waiters in line. */
  get size(): number {
    return this.#size;
  }

  /**
   * A request begins to wait. Constant time unless the line is full, then linear in its clients.
   * @param isFull Whether it can only take somebody's place; by default when the line has reached its bound.
   */
  add(waiter: W, isFull: boolean = this.#size >= this.waitersMax): Admission<W> {
    let evicted: W | undefined;
    if (isFull) {
      evicted = this.#displacedBy(waiter);
      if (!evicted) return { isTaken: false };
      this.remove(evicted);
    }
    let clients = this.#classes.get(waiter.priority);
    if (!clients) this.#classes.set(waiter.priority, clients = new Map());
    const line = clients.get(waiter.client);
    if (line) line.push(waiter);
    else clients.set(waiter.client, [waiter]);
    this.#size++;
    return { isTaken: true, evicted };
  }

  /**
   * Lets waiters go in their order.
   * @param mayGo Whether this one can go now; it has gone when it says so. The first that cannot ends it.
   */
  release(mayGo: (waiter: W) => boolean): void {
    while (this.#size > 0) {
      const clients = this.#classes.get(this.#bestPriority())!;
      const [client, line] = clients.entries().next().value!;
      const waiter = line[0];
      if (!mayGo(waiter)) return;
      // Behind the others: the clients take turns. `mayGo` cannot have changed the line: it only decides.
      this.remove(waiter);
      if (line.length === 0) continue;
      clients.delete(client);
      clients.set(client, line);
    }
  }

  /** Takes a waiter out, wherever it stands; harmless when it is not there. */
  remove(waiter: W): void {
    const clients = this.#classes.get(waiter.priority);
    const line = clients?.get(waiter.client);
    const index = line?.indexOf(waiter) ?? -1;
    if (!clients || !line || index < 0) return;
    line.splice(index, 1);
    this.#size--;
    if (line.length > 0) return;
    clients.delete(waiter.client);
    if (clients.size === 0) this.#classes.delete(waiter.priority);
  }

  /** Takes out whose time is over. Linear. */
  expire(nowMs: Ms): W[] {
    const late: W[] = [];
    for (const clients of this.#classes.values()) {
      for (const line of clients.values()) {
        for (const waiter of line) if (nowMs >= waiter.deadlineMs) late.push(waiter);
      }
    }
    for (const waiter of late) this.remove(waiter);
    return late;
  }

  #bestPriority(): number {
    let best = -Infinity;
    for (const priority of this.#classes.keys()) best = Math.max(best, priority);
    return best;
  }

  /** The last of the longest line in the worst class, if the newcomer's own line would stay shorter. */
  #displacedBy(newcomer: W): W | undefined {
    let worst = Infinity;
    for (const priority of this.#classes.keys()) worst = Math.min(worst, priority);
    if (worst > newcomer.priority) return undefined;
    let longest: W[] = [];
    for (const line of this.#classes.get(worst)!.values()) {
      if (line.length > longest.length) longest = line;
    }
    if (worst < newcomer.priority) return longest.at(-1);
    const ownLength = this.#classes.get(worst)!.get(newcomer.client)?.length ?? 0;
    return longest.length > ownLength + 1 ? longest.at(-1) : undefined;
  }
}
