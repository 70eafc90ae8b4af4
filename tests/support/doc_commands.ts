// Which command lines do our documents show?
//
// A block ```sh is run line by line, in a home of its own. Above it may stand a mark:
//   <!-- on NAME -->        the lines of a story on several machines; each NAME has its own home until the page ends
//   <!-- not run: WHY -->   what cannot be run here
// Inside a line of text, code that begins like a command is checked to name one that exists.

/** One block of command lines. */
export type DocBlock = {
  /** Of the fence, from 1. */
  readonly line: number;
  /** A command each; one that goes on after a backslash is whole. */
  readonly commands: readonly string[];
  /** The machine of a story; `null` for a block that stands alone. */
  readonly machine: string | null;
  /** Why it is not run; `null` when it is. */
  readonly whyNot: string | null;
};

const fence = /^```(\w*)$/;

/** Every block of shell commands, in order. */
export function docBlocks(markdown: string): DocBlock[] {
  const blocks: DocBlock[] = [];
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, language] = fence.exec(lines[at]) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at + 1);
    if (language === "sh") {
      const mark = lines.slice(0, at).findLast((line) => line.trim() !== "") ?? "";
      const text = lines.slice(at + 1, end).join("\n").replaceAll(/\\\n\s*/g, "");
      blocks.push({
        line: at + 1,
        commands: text.split("\n").filter((line) => line !== "" && !line.startsWith("#")),
        machine: /^<!-- on (\w+) -->$/.exec(mark)?.[1] ?? null,
        whyNot: /^<!-- not run: (.+) -->$/.exec(mark)?.[1] ?? null,
      });
    }
    at = end;
  }
  return blocks;
}

/** Code inside text that reads like a command of ours: `otela …`, `deno task …`, `npx …`. */
export function inlineCommands(markdown: string): string[] {
  const text = markdown.replaceAll(/^```[^]*?^```$/gm, "");
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code.replaceAll(/\s+/g, " "))
    .filter((code) => /^(otela|npx|deno task) [^…]+$/.test(code)); // "…" stands for many commands.
}
