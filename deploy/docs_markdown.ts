// How is Markdown written so that `deno fmt` leaves it as it is?

const columnsMax = 100;

/** A paragraph, broken as late as a line allows. */
export function paragraph(text: string, indent = ""): string {
  const lines: string[] = [];
  // Code is never broken, though there are blanks in it.
  for (const [word] of text.matchAll(/(?:`[^`]*`|[^ `])+/g)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columnsMax) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(lines.length === 0 ? word : indent + word);
  }
  return lines.join("\n");
}

/** A list, one item each. */
export function list(items: readonly string[]): string {
  return items.map((item) => paragraph(`- ${item}`, "  ")).join("\n");
}

/** A table with padded columns. @param rows Each as long as the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join("\n");
}

/** As code; nothing for nothing. */
export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** A page from its parts, a blank line between them. */
export function page(parts: readonly string[]): string {
  return parts.join("\n\n") + "\n";
}
