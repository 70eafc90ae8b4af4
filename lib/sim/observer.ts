// What is remembered of a simulated world?
import type { Ms } from "../base/units.ts";
import type { PeerStatus } from "../membership/status.ts";

/** One node changed its mind about another. */
export type Opinion = {
  readonly atMs: Ms;
  readonly by: number;
  readonly of: number;
  readonly before: PeerStatus;
  readonly after: PeerStatus;
};

/** Something that was done to the world. */
export type Incident = { readonly atMs: Ms; readonly text: string };

/** Lines of a trace that are kept; the oldest go. */
const linesMax = 20_000;

/** Collects a readable trace: one line per incident and change of mind. */
export class Trace {
  readonly #lines: string[] = [];

  incident({ atMs, text }: Incident): void {
    this.#add(atMs, text);
  }

  opinion({ atMs, by, of, before, after }: Opinion): void {
    const was = `${before.status}/${before.reason}`;
    this.#add(
      atMs,
      `${nameOf(by)} says ${nameOf(of)} is ${after.status}/${after.reason}, was ${was}`,
    );
  }

  /** The last lines. @param about Only those that name this node. */
  lines(countMax: number, about?: number): string[] {
    const chosen = about === undefined
      ? this.#lines
      : this.#lines.filter((line) => line.includes(nameOf(about)));
    return chosen.slice(-countMax);
  }

  #add(atMs: Ms, text: string): void {
    if (this.#lines.length >= linesMax) this.#lines.splice(0, linesMax / 2);
    this.#lines.push(`${(atMs / 1000).toFixed(3).padStart(9)} ${text}`);
  }
}

/** `n0007`. */
export function nameOf(node: number): string {
  return `n${String(node).padStart(4, "0")}`;
}
