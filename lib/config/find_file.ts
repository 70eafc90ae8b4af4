// Which file configures this node?
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { ConfigProblem } from "./problem.ts";
import { yamlCharactersMax } from "./yaml_tree.ts";

/** A configuration file and what it holds. */
export type FoundFile = { readonly path: string; readonly text: string };

/**
 * `--config`, else `cfg.yaml` in `--config-dir`, else in `~/.config/opentela`, else in `~/.config/ocf`. These
 * are the places of the original, which reads no XDG variable. Only a file that was asked for must exist.
 * @param chosen The path that a flag or variable gives to `config` and `config_dir`.
 * @returns `null` when there is none, or when it cannot be used and a problem says why.
 */
export function findConfigFile(
  { readFile, home }: {
    readonly readFile: (path: string) => Uint8Array | undefined;
    readonly home: string | null;
  },
  chosen: (key: "config" | "config_dir") => string | undefined,
  problems: ConfigProblem[],
): FoundFile | null {
  const explicit = chosen("config");
  const directory = chosen("config_dir");
  for (const path of findingPlaces(explicit, directory, home)) {
    try {
      const bytes = readFile(path);
      if (bytes === undefined) continue;
      if (bytes.byteLength > 4 * yamlCharactersMax) throw new Error("it is too large");
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      return { path, text: decoder.decode(bytes) };
    } catch (error) {
      const message = `must be a readable UTF-8 file: ${messageOf(error)}`;
      problems.push({ where: path, key: "", message });
      return null;
    }
  }
  if (explicit !== undefined) {
    const message = "must exist, as it was asked for: there is no such file";
    problems.push({ where: explicit, key: "", message });
  }
  return null;
}

/** Where to look, the first that exists being used. */
export function findingPlaces(
  explicit: string | undefined,
  directory: string | undefined,
  home: string | null,
): string[] {
  if (explicit !== undefined) return [explicit];
  if (directory !== undefined) return [join(directory, "cfg.yaml")];
  if (home === null) return [];
  return ["opentela", "ocf"].map((name) => join(home, ".config", name, "cfg.yaml"));
}
