// What does a file import?
import { posix } from "node:path";
import { codeOnly } from "./code_only.ts";
import { lineAt, type SourceFile } from "./source_file.ts";

/** One `import` or `export … from`. */
export type Import = {
  readonly specifier: string;
  readonly line: number;
  /** Whether the file hands on what it imports. */
  readonly isReExport: boolean;
  /** Whether what it names is loaded with the file: neither types alone nor later, with `await import`. */
  readonly isLoaded: boolean;
  /** The imported file relative to the repository; `undefined` for packages. */
  readonly path: string | undefined;
};

const statement = /\b(import|export)\b(?:[^'"`;]*?\bfrom\s*|\s*\(?\s*)(["'])([^"'\n]+)\2/g;

/** All imports of a file, type-only and dynamic ones included. */
export function importsOf(file: SourceFile): Import[] {
  const code = codeOnly(file.text);
  return [...file.text.matchAll(statement)]
    // The word stands in a comment or a string when it is no code.
    .filter((match) => code[match.index] === match[1][0])
    .map((match) => ({
      specifier: match[3],
      line: lineAt(file.text, match.index + match[0].length),
      isReExport: match[1] === "export",
      isLoaded: !/^\w+\s+type\b|^import\s*\(/.test(match[0]),
      path: match[3].startsWith(".") ? posix.join(posix.dirname(file.path), match[3]) : undefined,
    }));
}
