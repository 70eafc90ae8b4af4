// How do we show rows to a person?

/**
 * Rows in columns, two spaces between them; the last column is not padded.
 * @param rows All of one length; cells without line ends.
 * @returns One text per row; empty for no rows.
 */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row.map((cell, column) => column === row.length - 1 ? cell : cell.padEnd(widths![column]))
      .join("  ").trimEnd()
  );
}
