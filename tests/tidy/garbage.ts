// Does the forward path leave garbage where only a full collection finds it?
import { codeOnly } from "./code_only.ts";
import { findAll, type Finding, type SourceFile } from "./source_file.ts";

/** What runs for each request. */
const forwardPath = /^lib\/(access|engine|exchange|gateway|lane|metrics|routing|usage)\//;

const parameters = String.raw`(?:\w+|\((?:[^()]|\([^()]*\))*\)(?:\s*:\s*[^=;{}]+)?)`;
const assignedClosure = new RegExp(
  String.raw`\.#?\w+\s*(?:\?\?|\|\||&&)?=\s*(?:async\s*)?(?:function\b|${parameters}\s*=>)`,
  "g",
);

/** Closures of one request die with it. */
export function noClosureIntoProperty(files: readonly SourceFile[]): Finding[] {
  const why =
    "A function that is written right of `object.property =` V8 makes among old objects, where it keeps all that it " +
    "knows of its request until the whole heap is marked (megabytes and 10 ms of each collection): give it a const first";
  return files.filter(({ path }) => forwardPath.test(path))
    .flatMap((file) => findAll(file, assignedClosure, why, codeOnly(file.text)));
}
