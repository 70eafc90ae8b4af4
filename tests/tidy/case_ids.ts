// Which public failure reports must a test answer?
import type { Finding, SourceFile } from "./source_file.ts";

/** Bugs of the reference (weaknesses.md, part B): membership, registry, restarts. */
const partB = [
  ...numbersFrom(23, 65),
  ...numbersFrom(68, 71),
  ...[78, 81, 82],
].map((number) => `B${number}`);

/** Ids of reported failures that we must not repeat; a test that starts with the id shows it. */
export const caseIds: readonly string[] = [
  ...["C001", "C002", "C006", "C014", "C016"], // Event streams.
  ...["C017", "C019", "C021", "C022", "C024", "C026", "C027", "C029", "C031", "C036"], // Proxying.
  ...["C041", "C042", "C044"], // Registry.
  ...["C071", "C074"], // Stopping, and starting at once.
  ...["C076", "C077", "C079"], // The executable: complete, made offline, and having no terminal.
  ...["C081", "C082", "C084"], // Configuration.
  ...["C054"], // Being up for weeks.
  ...["C049", "C051", "C052"], // Many workers behind one address, on one shared home, on many networks.
  ...partB,
];

/** Each id names a test. */
export function everyCaseTested(files: readonly SourceFile[], ids = caseIds): Finding[] {
  const why =
    "Each reported failure has a test named by its id, so that nobody has to meet it again";
  const text = files.filter(({ path }) => path.endsWith("_test.ts")).map((file) => file.text).join(
    "\n",
  );
  return ids.filter((id) => !new RegExp(`["'\`](?:[BC]\\d+, )*${id}[:,]`).test(text))
    .map((id) => ({ path: "tests", line: 0, what: `no test is named "${id}: …"`, why }));
}

function numbersFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
