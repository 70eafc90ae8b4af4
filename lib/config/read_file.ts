// How does the configuration read a file?
import { yamlCharactersMax } from "./yaml_tree.ts";

/**
 * A whole small file; the adapter for `loadConfig`.
 * @returns `undefined` when there is no such file.
 * @throws {Error} When it cannot be read, is no file, or has more bytes than a configuration may have.
 */
export function readConfigFile(path: string): Uint8Array | undefined {
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile) throw new Error("it is no file");
    if (size > 4 * yamlCharactersMax) throw new Error("it is too large");
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
