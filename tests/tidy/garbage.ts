// Does the forward path leave garbage where only a full collection finds it?
import { codeOnly } from "./code_only.ts";
import { findAll, type Finding, type SourceFile } from "./source_file.ts";

/** What runs for each request. */
const forwardPath = /^lib\/(access|engine|exchange|gateway|lane|metrics|routing|usage)\//;

/** Classes of which a node, a lane or a service has one: what they keep is kept anyway. */
const longLived = /\bclass (?:EnginePool|FlushClock|ForwardAdmission)\b/;

const parameters = String.raw`(?:\w+|\((?:[^()]|\([^()]*\))*\)(?:\s*:\s*[^=;{}]+)?)`;
const closure = String.raw`(?:async\s*)?(?:function\b|${parameters}\s*=>)`;
const assigned = new RegExp(String.raw`\.#?\w+\s*(?:\?\?|\|\||&&)?=\s*${closure}`, "g");
const field = new RegExp(String.raw`^  (?:[a-z]+ )*#?\w+(?:: .+?)? = ${closure}`, "gm");
const parameterProperty =
  /\bconstructor\((?:(?!\) \{)[^])*?\b(?:private|protected|public|readonly) /;

/** Closures of one request die with it. */
export function noOldClosures(files: readonly SourceFile[]): Finding[] {
  const why =
    "A function that is written right of `object.property =`, as TypeScript also does with a field beside parameter " +
    "properties, V8 makes among old objects, where it keeps all that it knows of its request until the whole heap is " +
    "marked (megabytes and 10 ms of each collection): give it a const first";
  return files.filter(({ path }) => forwardPath.test(path)).flatMap((file) => {
    const code = codeOnly(file.text);
    return [
      ...findAll(file, assigned, why, code),
      ...findAll(file, field, why, withMovedFields(code)),
    ];
  });
}

/** The code of classes whose fields are set by their constructor; all else blank, positions kept. */
function withMovedFields(code: string): string {
  return code.split(/^(?=(?:export )?(?:abstract )?class )/m).map((part) => {
    const isMoved = parameterProperty.test(part) && !longLived.test(part);
    return isMoved ? part : part.replace(/[^\n]/g, " ");
  }).join("");
}
