// What can a person choose about the mesh on this machine?
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type EngineChoice, parseEngines } from "./engines.ts";

/** The choices of one command line. */
export type MeshChoices = {
  /** One engine for each worker; the last one counts for the rest. */
  readonly engines: readonly EngineChoice[];
  /** Absolute path of the executable that the nodes run; from source when there is none. */
  readonly exe: string | undefined;
};

/**
 * Reads `--engine` and `--exe`.
 * @param cwd Where the person is, and relative paths begin.
 * @throws {Error} On an unknown option, or an engine that cannot be used.
 */
export function parseMeshChoices(args: string[], cwd: string): MeshChoices {
  const { values: { engine = [], exe } } = parseArgs({
    args,
    options: { engine: { type: "string", multiple: true }, exe: { type: "string" } },
  });
  return { engines: parseEngines(engine), exe: exe === undefined ? undefined : resolve(cwd, exe) };
}

/** Where the person typed the task; the task itself runs elsewhere. */
export function typedIn(): string {
  return Deno.env.get("INIT_CWD") ?? Deno.cwd();
}
