// Where would the running node send a request, and why?
import type { Explanation } from "../../lib/gateway/operator_door.ts";
import { type CommandSpec, jsonOption, textOf } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { findNode } from "../find_node.ts";
import { jsonLine } from "../json.ts";
import { askOperator } from "../operator_client.ts";
import { columns } from "../table.ts";

/** `otela explain` */
export const explainCommand: CommandSpec = {
  name: "explain",
  summary: "Tell where the running node would send a request, and why",
  details: [
    "It lists who matches, those first who would be asked first, with what the choice goes by: requests there,",
    "places, the average time to an answer, the weight, and the score of p2c, of which less is better.",
    "Nothing is sent. A client sees the same of its own request when it sends X-Otela-Debug: 1.",
    "Examples:",
    "  otela explain --model Qwen3-8B",
  ],
  options: [
    jsonOption,
    { flag: "--model", type: "text", value: "<name>", help: "Model that the request asks for" },
    { flag: "--group", type: "text", value: "<key=value>", help: "Identity group, in place of it" },
    {
      flag: "--service",
      type: "text",
      value: "<name>",
      help: "Service that it calls; llm if none",
    },
    {
      flag: "--fallback",
      type: "text",
      value: "<level>",
      help: "As X-Otela-Fallback",
      choices: ["0", "1", "2"],
    },
  ],
  run: async (call, io) => {
    const group = textOf(call, "--group") ?? `model=${textOf(call, "--model") ?? ""}`;
    const query = new URLSearchParams({
      service: textOf(call, "--service") ?? "llm",
      group,
      fallback: textOf(call, "--fallback") ?? "0",
    });
    const { socket } = await findNode(call, io);
    const path = `/explain?${query}`;
    const answer = await askOperator(socket, { method: "GET", path }) as Explanation;
    if (call.flags.has("--json")) io.out(jsonLine(answer));
    else for (const line of describe(answer)) io.out(line);
    return ExitCode.ok;
  },
};

function describe({ policy, candidates }: Explanation): string[] {
  if (candidates.length === 0) return [`policy ${policy}: nobody who is here matches`];
  const rows = candidates.map((one) => [
    one.peer.slice(-8),
    String(one.tierIndex),
    one.engine,
    String(one.load),
    one.capacity === 0 ? "-" : String(one.capacity),
    one.latencyMs === null ? "-" : String(one.latencyMs),
    String(one.weight),
    one.score === null ? "-" : String(one.score),
    one.why,
  ]);
  const head = ["peer", "tier", "engine", "load", "places", "ms", "weight", "score", "why"];
  return [`policy ${policy}`, ...columns([head, ...rows])];
}
