// How would a mesh of this size behave when this goes wrong?
import { OtelaError } from "../../lib/base/errors.ts";
import { minuteMs } from "../../lib/base/units.ts";
import { type Call, type CommandSpec, jsonOption, textOf } from "../command.ts";

const nodesMax = 5_000;

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
    const faults = textOf(call, "--faults") ?? "";
    // Only here: the simulator brings the whole registry and the 5 MB of Automerge, which would stay in every node.
    const { runSimulation } = await import("../simulation.ts");
    const plan = { nodeCount, seed, faults, actMs: minutes * minuteMs };
    return runSimulation(plan, io, call.flags.has("--json"));
  },
};

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
