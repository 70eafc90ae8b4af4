// How do these tests load a configuration without a disk?
import { throws } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import { type ConfigSources, loadConfig, type LoadedConfig } from "../../../lib/config/load.ts";

/** Where the file of `loadText` stands. */
export const defaultFile = "/home/ada/.config/opentela/cfg.yaml";

/** What a test may put around the text of the file. */
export type Around = Partial<Pick<ConfigSources, "flags" | "env" | "home">> & {
  /** More files, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
};

/** Loads a configuration whose default file holds `text`; `undefined` for no file. */
export function loadText(text: string | Uint8Array | undefined, around: Around = {}): LoadedConfig {
  const files = new Map(Object.entries(around.files ?? {}));
  if (text !== undefined) files.set(defaultFile, text);
  return loadConfig({
    flags: around.flags ?? {},
    env: around.env ?? {},
    home: around.home === undefined ? "/home/ada" : around.home,
    cwd: "/srv/run",
    readFile: (path) => {
      const found = files.get(path);
      return typeof found === "string" ? new TextEncoder().encode(found) : found;
    },
  });
}

/** The problems that loading meets, one a line, with the default file's path cut to its name. */
export function problemsOf(text: string | Uint8Array | undefined, around: Around = {}): string[] {
  let message = "";
  throws(() => loadText(text, around), (error: unknown) => {
    if (!(error instanceof OtelaError) || error.code !== "config_invalid") return false;
    message = error.message;
    return true;
  });
  return message.replace("Cannot use the configuration:", "").replaceAll(defaultFile, "cfg.yaml")
    .split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** A file of `tests/cases/inputs`. */
export function readInput(name: string): Uint8Array {
  return Deno.readFileSync(new URL(`../../cases/inputs/${name}`, import.meta.url));
}
