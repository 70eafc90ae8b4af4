// How does a command run a simulation and tell what came of it?
import { minuteMs, type Ms, secondMs } from "../lib/base/units.ts";
import { startAutomerge } from "../lib/registry/automerge.ts";
import { parseFaults } from "../lib/sim/faults.ts";
import { realRegistries } from "../lib/sim/registries.ts";
import { simulate, type SimulationResult } from "../lib/sim/simulate.ts";
import type { CommandIo } from "./io.ts";
import { ExitCode } from "./exit_code.ts";
import { jsonLine } from "./json.ts";
import { columns } from "./table.ts";

/** What to simulate; `faults` as `parseFaults` reads them. */
export type SimulationPlan = {
  readonly nodeCount: number;
  readonly seed: number;
  readonly faults: string;
  readonly actMs: Ms;
};

/** Above this the registries are models: real ones would take minutes to fill. */
const realRegistriesMax = 300;
const barWidth = 40;

/** @throws {OtelaError} `usage_invalid` when the faults cannot be read. */
export async function runSimulation(
  { nodeCount, seed, faults, actMs }: SimulationPlan,
  io: CommandIo,
  isJson: boolean,
): Promise<ExitCode> {
  const parsed = parseFaults(faults);
  const isReal = nodeCount <= realRegistriesMax;
  if (isReal) await startAutomerge();
  const result = simulate({
    nodeCount,
    seed,
    faults: parsed,
    actMs,
    ...(isReal ? { makeRegistry: realRegistries(nodeCount, seed) } : {}),
    ...(io.progress ? { onProgress: (share) => io.progress?.(bar(share)) } : {}),
  });
  io.progress?.("");
  if (isJson) io.out(jsonLine(result));
  else for (const line of describeSimulation(result)) io.out(line);
  return result.violations.length === 0 ? ExitCode.ok : ExitCode.failure;
}

/** What came of it as a person reads it, one text per line. */
function describeSimulation(result: SimulationResult): string[] {
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
