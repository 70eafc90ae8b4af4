// What stands in a YAML text, and where?
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Document, Node, Pair, YAMLError } from "yaml";
import { messageOf } from "../base/errors.ts";
import type { ConfigProblem } from "./problem.ts";

/** A YAML value that remembers its place. Scalars keep their text, so that `007` stays `007`. */
export type Tree =
  | { readonly type: "empty"; readonly where: string }
  | { readonly type: "scalar"; readonly where: string; readonly text: string; isBool: boolean }
  | { readonly type: "list"; readonly where: string; readonly items: readonly Tree[] }
  | { readonly type: "map"; readonly where: string; readonly entries: readonly TreeEntry[] };

/** One key and its value. */
export type TreeEntry = { readonly name: string; readonly where: string; readonly value: Tree };

/** A configuration is a few dozen lines; what is larger is something else. Guess. */
export const yamlCharactersMax = 131_072;
const nodesMax = 20_000;
const depthMax = 16;
const tooDeep = `must have at most ${depthMax} levels`;

/**
 * Reads one YAML document (version 1.2, so `on` and `no` are texts) with or without BOM, LF or CRLF.
 * Duplicate keys, merge keys, tags, tabs as indentation and a second document are problems.
 * @param place Names line and column (from 1) for people.
 * @returns The tree and every problem found; after a syntax error only the first, as the rest follows from it.
 */
export function readYaml(
  text: string,
  place: (line: number, column: number) => string,
): { tree: Tree; problems: ConfigProblem[] } {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const empty: Tree = { type: "empty", where: place(1, 1) };
  const failed = (where: string, message: string) => ({
    tree: empty,
    problems: [{ where, key: "", message }],
  });
  if (source.length > yamlCharactersMax) {
    return failed(place(1, 1), `must have at most ${yamlCharactersMax} characters`);
  }
  const lines = new LineCounter();
  try {
    const document = parseDocument(source, {
      lineCounter: lines,
      prettyErrors: false,
      // Found by our own walk, which compares in any case and in linear time.
      uniqueKeys: false,
      version: "1.2",
    });
    const wrong: YAMLError | undefined = document.errors[0] ?? document.warnings[0];
    if (wrong) {
      const { line, col } = lines.linePos(wrong.pos[0]);
      return failed(place(line, col), syntaxWords(wrong, source.split("\n")[line - 1] ?? ""));
    }
    const walk = new Walk(document, (offset) => {
      const { line, col } = lines.linePos(offset);
      return place(line, col);
    });
    const tree = document.contents === null ? empty : walk.tree(document.contents, 0);
    return { tree, problems: walk.problems };
  } catch (error) {
    // Thousands of nested brackets overflow the parser's stack; anything else is our own mistake.
    if (!(error instanceof RangeError)) throw error;
    return failed(place(1, 1), tooDeep);
  }
}

function syntaxWords(error: YAMLError, line: string): string {
  if (error.code === "TAB_AS_INDENT" || /^\s*\t/.test(line)) {
    return "must not be indented with a tab: use spaces";
  }
  if (error.code === "MULTIPLE_DOCS") return "must hold one YAML document: remove the second ---";
  if (error.code === "BLOCK_AS_IMPLICIT_KEY") {
    return "must be valid YAML: quote a value that contains a colon and a space";
  }
  if (error.message.includes("call stack")) return tooDeep;
  return `must be valid YAML: ${messageOf(error)}`;
}

/** Turns parsed nodes into trees within a budget, so that aliases cannot multiply without end. */
class Walk {
  readonly problems: ConfigProblem[] = [];
  #nodesLeft = nodesMax;

  constructor(readonly document: Document, readonly whereOf: (offset: number) => string) {}

  tree(node: unknown, depth: number): Tree {
    const where = this.whereOf((node as Node | null)?.range?.[0] ?? 0);
    if (this.#nodesLeft-- <= 0 || depth > depthMax) return this.#tooLarge(where);
    if (isAlias(node)) {
      const anchored = node.resolve(this.document);
      if (anchored !== undefined) return this.tree(anchored, depth + 1);
      this.#add(where, "", `must be valid YAML: nothing before has the anchor of *${node.source}`);
      return { type: "empty", where };
    }
    if (isMap(node)) return { type: "map", where, entries: this.#entries(node.items, depth) };
    if (isSeq(node)) {
      return { type: "list", where, items: node.items.map((item) => this.tree(item, depth + 1)) };
    }
    if (!isScalar(node) || node.value === null) return { type: "empty", where };
    const { value, source } = node;
    if (typeof value === "object") {
      this.#add(where, "", "must be plain YAML: remove the tag");
      return { type: "empty", where };
    }
    const text = typeof value === "string" ? value : source ?? String(value);
    return { type: "scalar", where, text, isBool: typeof value === "boolean" };
  }

  #entries(pairs: readonly Pair[], depth: number): TreeEntry[] {
    const entries: TreeEntry[] = [];
    const seen = new Map<string, string>();
    for (const pair of pairs) {
      const keyTree = this.tree(pair.key, depth + 1);
      const { where } = keyTree;
      if (keyTree.type !== "scalar") {
        this.#add(where, "", "must have a plain text as key");
        continue;
      }
      const name = keyTree.text;
      const earlier = seen.get(name.toLowerCase());
      if (name === "<<") {
        this.#add(where, name, "is a merge key, which is not supported: write the keys out");
      } else if (earlier !== undefined) {
        this.#add(where, name, `is given twice, first at ${earlier}: remove one`);
      } else {
        seen.set(name.toLowerCase(), where);
        entries.push({ name, where, value: this.tree(pair.value, depth + 1) });
      }
    }
    return entries;
  }

  #tooLarge(where: string): Tree {
    // One problem is enough: everything behind it is cut off as well.
    if (!this.problems.some((problem) => problem.message.startsWith("must have at most"))) {
      this.#add(where, "", `must have at most ${nodesMax} values in ${depthMax} levels`);
    }
    return { type: "empty", where };
  }

  #add(where: string, key: string, message: string): void {
    this.problems.push({ where, key, message });
  }
}
