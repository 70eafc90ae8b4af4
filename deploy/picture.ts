// How does the demo show what happens, to somebody who has never seen it?
import type { Ms } from "../lib/base/units.ts";

/** Escape sequences of the few colours used (ECMA-48); none outside a terminal. */
const codes = { bold: 1, dim: 2, red: 31, green: 32, cyan: 36 } as const;

/** A way to make text stand out. */
export type Tone = keyof typeof codes;

/** Prints lines in columns: a heading in the margin, then cells. */
export class Picture {
  #headingBefore = "";

  /**
   * @param write Prints one line.
   * @param hasColour Whether the reader's terminal shows colours.
   */
  constructor(
    private readonly write: (line: string) => void,
    private readonly hasColour: boolean,
  ) {}

  title(text: string, more: string): void {
    this.write(`\n  ${this.tint(text, "bold")}  ${this.tint(more, "dim")}`);
  }

  /**
   * One line below a heading. The heading is printed once for the lines that follow each other under it.
   * @param cells Text with the width to fill, or text alone for the last one.
   */
  line(heading: string, ...cells: readonly (string | readonly [string, number, Tone?])[]): void {
    const isNew = heading !== this.#headingBefore;
    this.#headingBefore = heading;
    const margin = (isNew ? heading : "").padEnd(headingWidth);
    const body = cells.map((cell) => {
      if (typeof cell === "string") return cell;
      const [text, width, tone] = cell;
      return this.tint(text, tone) + " ".repeat(Math.max(1, width - text.length));
    }).join("");
    this.write(`${isNew ? "\n" : ""}  ${this.tint(margin, "cyan")}${body.trimEnd()}`);
  }

  /** The text in a tone, or as it is where there is no colour. */
  tint(text: string, tone: Tone | undefined): string {
    return this.hasColour && tone ? `\x1b[${codes[tone]}m${text}\x1b[0m` : text;
  }
}

const headingWidth = 10;

/** `8 ms`, `340 ms`, `1.4 s`: as exact as a person wants it. */
export function duration(ms: Ms): string {
  return ms < 995
    ? `${ms < 9.5 ? ms.toFixed(1) : Math.round(ms)} ms`
    : `${(ms / 1000).toFixed(1)} s`;
}

/** Text on one line, cut to a width with an ellipsis. */
export function cut(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
