// What do the rules of tidiness look at?

/** A text file of the repository. */
export type SourceFile = {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  readonly text: string;
};

/** One broken rule in one place. */
export type Finding = {
  readonly path: string;
  /** From 1; 0 when the whole file is meant. */
  readonly line: number;
  /** What is there. */
  readonly what: string;
  /** The rule, and why we have it. */
  readonly why: string;
};

/** Looks at all files and returns what breaks it. */
export type Rule = (files: readonly SourceFile[]) => Finding[];

/** The line of a position in a text, from 1. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < index; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** Every match of a pattern in a text as a finding. */
export function findAll(
  { path, text }: SourceFile,
  pattern: RegExp,
  why: string,
  searched = text,
): Finding[] {
  return [...searched.matchAll(pattern)].map((match) => ({
    path,
    line: lineAt(text, match.index),
    what: match[0].trim(),
    why,
  }));
}

/** A finding as a person reads it in a failed test. */
export function describe({ path, line, what, why }: Finding): string {
  return `${path}${line > 0 ? `:${line}` : ""}: ${what}\n    ${why}`;
}
