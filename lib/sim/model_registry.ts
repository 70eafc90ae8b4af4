// How does the registry behave, when its claims and signatures do not matter?
import { type Bytes, type Ms, secondMs } from "../base/units.ts";
import type { RegistryOutlet, SimRegistry } from "./sim_registry.ts";

/** A state of a claim: what orders it. */
type Version = { readonly epoch: number; readonly seq: number };

/** What every node held when the world began; shared, so that 5,000 nodes with 5,000 rows each fit into memory. */
export type Baseline = readonly Version[];

type Row = readonly [owner: number, epoch: number, seq: number];

type Message =
  | { readonly type: "root"; readonly root: string }
  /** My rows that are not the baseline's; `isAll`: I have no baseline, send me everything. */
  | { readonly type: "compare"; readonly rows: readonly Row[]; readonly isAll: boolean }
  | { readonly type: "rows"; readonly rows: readonly Row[]; readonly isAll: boolean };

/** As measured of the real ones: an envelope with its document, the head of one, 256 bucket hashes. */
const envelopeBytes: Bytes = 850;
const headBytes: Bytes = 100;
const bucketBytes: Bytes = 2_048;
/** As the real sync: a difference must last a second. */
const mismatchMs: Ms = secondMs;

/** Epochs and seqs without documents; a test holds it against the real registry. */
export class ModelRegistry implements SimRegistry {
  readonly hasTicks = false;
  readonly #rows = new Map<number, Version>();
  readonly #differsSince = new Map<number, Ms>();
  #hasBaseline: boolean;
  #hash: number;
  #own: Version;

  /** @param hasBaseline `false` for a node that starts without its state. */
  constructor(
    readonly self: number,
    epoch: number,
    readonly baseline: Baseline,
    hasBaseline: boolean,
    private readonly outlet: RegistryOutlet,
  ) {
    this.#own = { epoch, seq: 0 };
    this.#hasBaseline = hasBaseline;
    this.#hash = hasBaseline ? hashOfBaseline(baseline) : 0;
  }

  get root(): string {
    return this.#hash.toString(16).padStart(16, "0");
  }

  start(): void {
    if (this.#hasBaseline && this.#own.epoch === 1) {
      this.#own = this.baseline[this.self];
      return;
    }
    this.change();
  }

  change(): void {
    this.#own = { epoch: this.#own.epoch, seq: this.#own.seq + 1 };
    this.#put(this.self, this.#own);
    this.outlet.publish([this.self, this.#own.epoch, this.#own.seq], envelopeBytes);
  }

  linkOpened(to: number): void {
    this.#send(to, { type: "root", root: this.root }, 16);
  }

  linkClosed(to: number): void {
    this.#differsSince.delete(to);
  }

  gossiped(_from: number, item: object): boolean {
    return this.#take(item as Row);
  }

  received(from: number, message: unknown, nowMs: Ms): void {
    const heard = message as Message;
    switch (heard.type) {
      case "root":
        if (heard.root !== this.root && this.self < from) this.#compare(from, nowMs);
        else this.rootSeen(from, heard.root, nowMs);
        return;
      case "compare":
        this.#answer(from, heard.rows, heard.isAll);
        if (!this.#hasBaseline && !heard.isAll) this.#compare(from, nowMs);
        return;
      case "rows":
        if (heard.isAll && !this.#hasBaseline) this.#takeBaseline();
        for (const row of heard.rows) this.#take(row, from);
        return;
    }
  }

  rootSeen(from: number, root: string, nowMs: Ms): void {
    if (root === this.root) {
      this.#differsSince.delete(from);
      return;
    }
    const sinceMs = this.#differsSince.get(from);
    if (sinceMs === undefined) this.#differsSince.set(from, nowMs);
    else if (nowMs - sinceMs >= mismatchMs && this.self < from) this.#compare(from, nowMs);
  }

  ticked(): void {}

  epochOf(owner: number): number {
    return this.#versionOf(owner)?.epoch ?? 0;
  }

  table(): string[] {
    const owners = new Set([
      ...this.#rows.keys(),
      ...(this.#hasBaseline ? this.baseline.keys() : []),
    ]);
    return [...owners].flatMap((owner) => {
      const version = this.#versionOf(owner);
      return version ? [`${owner} ${version.epoch}.${version.seq}`] : [];
    }).sort();
  }

  #compare(to: number, nowMs: Ms): void {
    this.#differsSince.set(to, nowMs);
    const isAll = !this.#hasBaseline;
    this.#send(to, { type: "compare", rows: this.#ownRows(), isAll }, bucketBytes);
  }

  #answer(to: number, theirs: readonly Row[], isAll: boolean): void {
    const known = new Map(theirs.map(([owner, epoch, seq]) => [owner, { epoch, seq }]));
    const newer = this.#ownRows().filter(([owner, epoch, seq]) => {
      const held = known.get(owner) ?? (isAll ? undefined : this.baseline[owner]);
      return !held || compare({ epoch, seq }, held) > 0;
    });
    const isWhole = isAll && this.#hasBaseline;
    const sentCount = newer.length + (isWhole ? this.baseline.length : 0);
    this.#send(
      to,
      { type: "rows", rows: newer, isAll: isWhole },
      headBytes + sentCount * envelopeBytes,
    );
    const older = theirs.filter((row) => this.#isNews(row));
    for (const row of older) this.#take(row, to);
  }

  /** Takes a row that is newer than ours; shows our own when somebody holds a later life of us. */
  #take(row: Row, from?: number): boolean {
    const [owner, epoch, seq] = row;
    if (owner === this.self) {
      if (compare({ epoch, seq }, this.#own) <= 0) return false;
      this.#own = { epoch: epoch + 1, seq: 0 };
      this.outlet.epochRaised(this.#own.epoch);
      this.change();
      return false;
    }
    if (!this.#isNews(row)) {
      const held = this.#versionOf(owner);
      const isOld = held && compare({ epoch, seq }, held) < 0;
      // The owner is behind on its own claim: it restarted without its epoch.
      if (isOld && from === undefined) this.#show(owner, held);
      return false;
    }
    const isLife = epoch > this.epochOf(owner);
    this.#put(owner, { epoch, seq });
    if (isLife) this.outlet.changed(owner, epoch);
    return true;
  }

  #show(owner: number, { epoch, seq }: Version): void {
    this.#send(owner, { type: "rows", rows: [[owner, epoch, seq]], isAll: false }, envelopeBytes);
  }

  #takeBaseline(): void {
    const ours = [...this.#rows];
    this.#rows.clear();
    this.#hasBaseline = true;
    this.#hash = hashOfBaseline(this.baseline);
    for (const [owner, version] of ours) this.#put(owner, version);
  }

  #isNews([owner, epoch, seq]: Row): boolean {
    const held = this.#versionOf(owner);
    return !held || compare({ epoch, seq }, held) > 0;
  }

  #versionOf(owner: number): Version | undefined {
    return this.#rows.get(owner) ?? (this.#hasBaseline ? this.baseline[owner] : undefined);
  }

  #ownRows(): Row[] {
    return [...this.#rows].map(([owner, { epoch, seq }]) => [owner, epoch, seq] as const);
  }

  #put(owner: number, version: Version): void {
    const held = this.#versionOf(owner);
    if (held) this.#hash ^= hashOf(owner, held);
    this.#hash = (this.#hash ^ hashOf(owner, version)) >>> 0;
    this.#rows.set(owner, version);
  }

  #send(to: number, message: Message, bytes: Bytes): void {
    this.outlet.send(to, message, bytes);
  }
}

function compare(a: Version, b: Version): number {
  return a.epoch - b.epoch || a.seq - b.seq;
}

function hashOfBaseline(baseline: Baseline): number {
  return baseline.reduce((sum, version, owner) => (sum ^ hashOf(owner, version)) >>> 0, 0);
}

function hashOf(owner: number, { epoch, seq }: Version): number {
  let hash = Math.imul(owner + 1, 0x9e3779b1) ^ Math.imul(epoch, 0x85ebca6b) ^
    Math.imul(seq, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
