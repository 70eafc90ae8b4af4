// How would a mesh of this size behave when this goes wrong?
import { OtelaError } from "../../lib/base/errors.ts";
import { minuteMs, secondMs } from "../../lib/base/units.ts";
import { startAutomerge } from "../../lib/registry/automerge.ts";
import { parseFaults } from "../../lib/sim/faults.ts";
import { realRegistries } from "../../lib/sim/registries.ts";
import { simulate, type SimulationResult } from "../../lib/sim/simulate.ts";
import { type Call, type CommandSpec, jsonOption, textOf } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { jsonLine } from "../json.ts";
import { columns } from "../table.ts";

/** Above this the registries are models: real ones would take minutes to fill. */
const realRegistriesMax = 300;
const nodesMax = 5_000;
const barWidth = 40;

export const simulateCommand: CommandSpec = {
  name: "simulate",
  summary: "Run a mesh in virtual time, and let things go wrong in it",
  options: [
    { flag: "--nodes", type: "text", value: "<count>", help: "Nodes, 2 to 5000 (default 100)" },
    {
      flag: "--seed",
      type: "text",
      value: "<number>",
      help: "Equal seeds give equal runs (default 1)",
    },
    {
      flag: "--faults",
      type: "text",
      value: "<list>",
      help:
        "loss, dup, reorder, pause, churn, wave, leave, partition, oneway, crash, skew; with =<number> or without",
    },
    {
      flag: "--minutes",
      type: "text",
      value: "<number>",
      help: "Of faults, in virtual time (default 1)",
    },
    jsonOption,
  ],
  run: async (call, io) => {
    const nodeCount = numberOf(call, "--nodes", 100, 2, nodesMax);
    const seed = numberOf(call, "--seed", 1, 0, 2 ** 32 - 1);
    const minutes = numberOf(call, "--minutes", 1, 0.01, 60_000);
    const faults = parseFaults(textOf(call, "--faults") ?? "");
    const isReal = nodeCount <= realRegistriesMax;
    if (isReal) await startAutomerge();
    const result = simulate({
      nodeCount,
      seed,
      faults,
      actMs: minutes * minuteMs,
      ...(isReal ? { makeRegistry: realRegistries(nodeCount, seed) } : {}),
      ...(io.progress ? { onProgress: (share) => io.progress?.(bar(share)) } : {}),
    });
    io.progress?.("");
    if (call.flags.has("--json")) io.out(jsonLine(result));
    else for (const line of describeSimulation(result)) io.out(line);
    return result.violations.length === 0 ? ExitCode.ok : ExitCode.failure;
  },
};

/** What came of it as a person reads it, one text per line. */
export function describeSimulation(result: SimulationResult): string[] {
  const { detectionCount, violations } = result;
  const ms = (value: number) =>
    Number.isNaN(value) ? "never" : `${(value / secondMs).toFixed(2)} s`;
  const detected = detectionCount === 0
    ? "nobody ended"
    : `p50 ${ms(result.detectionP50Ms)}, p99 ${ms(result.detectionP99Ms)}, max ${
      ms(result.detectionMaxMs)
    }`;
  const traffic = `${result.messagesPerNodeSecond.toFixed(1)} messages sent, ` +
    `${Math.round(result.bytesPerNodeSecond)} bytes sent and received`;
  return [
    ...columns([
      ["nodes", `${result.nodeCount}, seed ${result.seed}`],
      [
        "virtual time",
        `${(result.virtualMs / minuteMs).toFixed(1)} min, ${result.stepCount} steps`,
      ],
      ["detection", detected],
      ["false removals", String(result.falseRemovalCount)],
      ["false suspicions", String(result.falseSuspicionCount)],
      ["per node and second", traffic],
      ["agreement after", ms(result.convergenceMs)],
    ]),
    ...violations.flatMap((violation) => ["", ...violation.split("\n").map((line) => `! ${line}`)]),
  ];
}

function bar(share: number): string {
  const done = Math.round(share * barWidth);
  return `${"█".repeat(done)}${"░".repeat(barWidth - done)} ${Math.round(share * 100)} %`;
}

/** @throws {OtelaError} `usage_invalid` when the text is no number within the bounds. */
function numberOf(call: Call, flag: string, usual: number, min: number, max: number): number {
  const text = textOf(call, flag);
  const value = text === undefined ? usual : Number(text);
  const isWhole = flag === "--minutes" || Number.isInteger(value);
  if (value >= min && value <= max && isWhole) return value;
  throw new OtelaError(
    "usage_invalid",
    `Cannot use ${flag} as it must be ${
      flag === "--minutes" ? "a" : "a whole"
    } number from ${min} to ${max}: got "${text}"`,
  );
}
