// How does a bench tell what it measured, and whether that is good enough?

/** One line of measurements; the same keys in the same order for all rows of a bench. */
export type Row = Readonly<Record<string, string | number>>;

/** One promise of the product, kept or not. `bar` reads `>=0.75`. */
export type Verdict = {
  readonly name: string;
  readonly value: number;
  readonly bar: string;
  readonly ok: boolean;
};

export type Comparison = "<=" | "<" | ">=" | "=";

/** Collects rows and verdicts of one bench; prints JSON lines as they come, or tables at the end. */
export class Report {
  readonly #rows: Row[] = [];
  readonly #verdicts: Verdict[] = [];

  constructor(
    readonly bench: string,
    readonly isJson: boolean,
    readonly print: (line: string) => void,
  ) {}

  row(row: Row): void {
    this.#rows.push(rounded(row));
    if (this.isJson) this.print(JSON.stringify({ bench: this.bench, ...rounded(row) }));
  }

  /** A remark for people: what was left out and why. */
  note(text: string): void {
    this.print(this.isJson ? JSON.stringify({ bench: this.bench, note: text }) : text);
  }

  /** Holds a measured value against its bar. What was not measured (`NaN`) misses every bar. */
  judge(name: string, value: number, comparison: Comparison, limit: number): void {
    const ok = comparison === "<="
      ? value <= limit
      : comparison === "<"
      ? value < limit
      : comparison === ">="
      ? value >= limit
      : value === limit;
    this.#verdicts.push({
      name,
      value: roundedNumber(value),
      bar: `${comparison}${roundedNumber(limit)}`,
      ok,
    });
  }

  /** Prints what is still to print. @returns Whether every bar was met. */
  finish(): boolean {
    if (this.isJson) {
      this.print(JSON.stringify({ bench: this.bench, verdict: this.#verdicts }));
    } else {
      this.print(`\n${this.bench}`);
      printTable(this.#rows, this.print);
      this.print("");
      printTable(
        this.#verdicts.map(({ name, value, bar, ok }) => ({
          name,
          value,
          bar,
          "": ok ? "ok" : "MISSED",
        })),
        this.print,
      );
    }
    return this.#verdicts.every(({ ok }) => ok);
  }
}

/** Three digits that matter; whole numbers from 100 on. */
function roundedNumber(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

function rounded(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map((
      [key, value],
    ) => [key, typeof value === "number" ? roundedNumber(value) : value]),
  );
}

function printTable(rows: readonly Row[], print: (line: string) => void): void {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [keys, ...rows.map((row) => keys.map((key) => String(row[key] ?? "")))];
  const widths = keys.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const isNumber = keys.map((key) => rows.every((row) => typeof (row[key] ?? 0) === "number"));
  for (const line of cells) {
    print(
      line.map((cell, i) => isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))
        .join("  ").trimEnd(),
    );
  }
}
