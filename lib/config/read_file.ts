// How does the configuration read a file?
import type { Bytes } from "../base/units.ts";
import { yamlCharactersMax } from "./yaml_tree.ts";

/**
 * A whole small file; the adapter for `loadConfig`.
 * @param bytesMax A configuration may have as many by default.
 * @returns `undefined` when there is no such file.
 * @throws {Error} When it cannot be read, is no file, or has more bytes than allowed.
 */
export function readConfigFile(
  path: string,
  bytesMax: Bytes = 4 * yamlCharactersMax,
): Uint8Array | undefined {
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile) throw new Error("it is no file");
    if (size > bytesMax) throw new Error("it is too large");
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
