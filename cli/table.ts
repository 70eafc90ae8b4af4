// How do we show rows to a person?

/**
 * Rows in columns, two spaces between them; the last column is not padded.
 * @param rows All of one length; cells without line ends.
 * @param widthMax No column is padded further; a longer cell pushes what follows it.
 * @returns One text per row; empty for no rows.
 */
export function columns(
  rows: readonly (readonly string[])[],
  widthMax: number = Infinity,
): string[] {
  const widths = rows[0]?.map((_, column) =>
    Math.min(widthMax, Math.max(...rows.map((row) => row[column].length)))
  );
  return rows.map((row) =>
    row.map((cell, column) => column === row.length - 1 ? cell : cell.padEnd(widths![column]))
      .join("  ").trimEnd()
  );
}
