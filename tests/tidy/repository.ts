// Which files does the repository have?
import type { SourceFile } from "./source_file.ts";

/** What `.gitignore` keeps out, by name. */
const ignored = /^(dist|node_modules)$|\.(log|cpuprofile)$/;
const isText = /\.(ts|json|md|sh|service|yaml|yml)$|^\.ci\/run$/;
/** Inputs and golden files are data: they are as odd as the world is. */
const isData = /^tests\/(cases\/inputs|golden)\//;

/**
 * Reads the repository below `root`, as far as rules are about it.
 * @returns The names at the top, dotfiles and ignored ones left out, and the text files.
 */
export async function readRepository(
  root: URL,
): Promise<{ names: string[]; files: SourceFile[] }> {
  const names: string[] = [];
  const files: SourceFile[] = [];
  const read = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
      if (ignored.test(name) || (name.startsWith(".") && name !== ".ci")) continue;
      const path = folder + name;
      if (folder === "" && !name.startsWith(".")) names.push(name);
      if (isDirectory) await read(`${path}/`);
      else if (isText.test(path) && !isData.test(path)) {
        files.push({ path, text: await Deno.readTextFile(new URL(path, root)) });
      }
    }
  };
  await read("");
  return { names, files: files.sort((a, b) => a.path < b.path ? -1 : 1) };
}
