// Which bench runs, and under which conditions?
import { parseArgs } from "node:util";

export type BenchOptions = {
  /** One JSON object a line in place of tables. */
  readonly isJson: boolean;
  /** A short run with wide bars, for the gate: it shows that everything works and nothing collapsed. */
  readonly isSmall: boolean;
  /** Path of the script that starts the Go original; everything then runs where it finds no network. */
  readonly reference: string | undefined;
  /** Executable to measure in place of the source. */
  readonly exe: string | undefined;
  /** For `kill`: a llama.cpp server and a model for it, in place of the deterministic engine. */
  readonly llama: { readonly server: string; readonly model: string } | undefined;
  readonly rounds: number | undefined;
  /** Length of one measurement. */
  readonly seconds: number | undefined;
  /** Set when this process was started again without a network, for `--reference`. */
  readonly isIsolated: boolean;
};

export const benchUsage =
  `deno task bench NAME [--json] [--small] [--rounds N] [--seconds S] [--reference PATH] [--exe PATH] [--llama-server PATH --llama-model PATH]`;

/** @throws {Error} On an unknown option or a number that is none. */
export function parseBenchOptions(args: string[]): { names: string[]; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      small: { type: "boolean", default: false },
      isolated: { type: "boolean", default: false },
      reference: { type: "string" },
      exe: { type: "string" },
      "llama-server": { type: "string" },
      "llama-model": { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
    },
  });
  const options = {
    isJson: values.json,
    isSmall: values.small,
    isIsolated: values.isolated,
    reference: values.reference,
    exe: values.exe,
    llama: llamaOf(values["llama-server"], values["llama-model"]),
    rounds: positive("rounds", values.rounds),
    seconds: positive("seconds", values.seconds),
  };
  return { names: positionals, options };
}

function llamaOf(
  server: string | undefined,
  model: string | undefined,
): BenchOptions["llama"] {
  if (server === undefined && model === undefined) return undefined;
  if (server !== undefined && model !== undefined) return { server, model };
  throw new Error("Cannot use --llama-server without --llama-model, or the other way round");
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`Cannot use --${name} as it must be a number above 0: got "${text}"`);
}
