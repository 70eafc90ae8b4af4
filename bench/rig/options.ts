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
  /** For `kill`: a real engine in place of the deterministic one. */
  readonly llama: Llama | undefined;
  readonly rounds: number | undefined;
  /** Length of one measurement. */
  readonly seconds: number | undefined;
  /** Set when this process was started again without a network, for `--reference`. */
  readonly isIsolated: boolean;
};

/** Paths of a llama.cpp server, or its name, and of a model for it. */
export type Llama = { readonly server: string; readonly model: string };

export const benchUsage =
  `deno task bench NAME [--json] [--small] [--rounds N] [--seconds S] [--reference PATH] [--exe PATH] [--engine test|llama] [--llama-server PATH] [--llama-model PATH]`;

/**
 * @param variable Of the environment; asked only for what no option says.
 * @throws {Error} On an unknown option, a number that is none, or an engine that nobody says where to find.
 */
export function parseBenchOptions(
  args: string[],
  variable: (name: string) => string | undefined = (name) => Deno.env.get(name),
): { names: string[]; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      small: { type: "boolean", default: false },
      isolated: { type: "boolean", default: false },
      reference: { type: "string" },
      exe: { type: "string" },
      engine: { type: "string" },
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
    llama: llamaOf(values.engine, values["llama-server"], values["llama-model"], variable),
    rounds: positive("rounds", values.rounds),
    seconds: positive("seconds", values.seconds),
  };
  return { names: positionals, options };
}

/** Its options alone ask for it, too. */
function llamaOf(
  engine: string | undefined,
  serverSaid: string | undefined,
  modelSaid: string | undefined,
  variable: (name: string) => string | undefined,
): Llama | undefined {
  if (engine !== undefined && engine !== "test" && engine !== "llama") {
    throw new Error(`Cannot use --engine as it must be test or llama: got "${engine}"`);
  }
  const isSaid = serverSaid !== undefined || modelSaid !== undefined;
  if (engine === "test" && isSaid) {
    throw new Error("Cannot use --llama-server or --llama-model with --engine test");
  }
  if (engine !== "llama" && !isSaid) return undefined;
  const server = serverSaid ?? variable("OTELA_LLAMA_SERVER");
  const model = modelSaid ?? variable("OTELA_LLAMA_MODEL");
  if (server && model) return { server, model };
  const missing = [
    ...server ? [] : ["a server of llama.cpp: --llama-server PATH or OTELA_LLAMA_SERVER"],
    ...model ? [] : ["a model in GGUF: --llama-model PATH or OTELA_LLAMA_MODEL"],
  ];
  throw new Error(`Cannot use llama as the engine as it needs ${missing.join(", and ")}`);
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`Cannot use --${name} as it must be a number above 0: got "${text}"`);
}
