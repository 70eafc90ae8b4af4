import { deepEqual, equal, throws } from "node:assert/strict";
import { chatBody } from "../../../bench/load/request.ts";
import { Samples } from "../../../bench/load/samples.ts";
import { ConversationCache } from "../../../bench/rig/conversations.ts";
import { parseBenchOptions } from "../../../bench/rig/options.ts";
import { Report } from "../../../bench/rig/report.ts";
import { Rounds } from "../../../bench/rig/rounds.ts";

Deno.test("the request of the benches has 66 bytes of JSON", () => {
  equal(chatBody.length, 66);
});

Deno.test("Samples gives nearest-rank quantiles, and keeps no more than it has room for", () => {
  const samples = new Samples(100);
  for (let i = 100; i >= 1; i--) samples.add(i);
  samples.add(1_000);
  deepEqual(samples.quantiles(0.5, 0.99, 1), [50, 99, 100]);
  samples.clear();
  deepEqual(samples.quantiles(0.5), [0]);
});

Deno.test("Report prints JSON lines and last the verdict", () => {
  const lines: string[] = [];
  const report = new Report("proxy", true, (line) => lines.push(line));
  report.row({ target: "mesh", c: 50, rps: 14_210.4, p50_ms: 3.1234 });
  report.judge("mesh/plain@50", 0.8123, ">=", 0.75);
  equal(report.finish(), true);
  deepEqual(lines, [
    '{"bench":"proxy","target":"mesh","c":50,"rps":14210,"p50_ms":3.12}',
    '{"bench":"proxy","verdict":[{"name":"mesh/plain@50","value":0.812,"bar":">=0.75","ok":true}]}',
  ]);
});

Deno.test("Report prints tables with the bars beside the values", () => {
  const lines: string[] = [];
  const report = new Report("proxy", false, (line) => lines.push(line));
  report.row({ target: "mesh", rps: 9_000 });
  report.row({ target: "plain", rps: 15_000 });
  report.judge("mesh/plain@50", 0.6, ">=", 0.75);
  equal(report.finish(), false);
  deepEqual(lines, [
    "\nproxy",
    "target    rps",
    "mesh     9000",
    "plain   15000",
    "",
    "name           value  bar",
    "mesh/plain@50    0.6  >=0.75  MISSED",
  ]);
});

Deno.test("Report lets nothing pass that was not measured", () => {
  const report = new Report("x", true, () => {});
  report.judge("a", NaN, ">=", 0);
  report.judge("b", NaN, "<=", 1);
  equal(report.finish(), false);
});

Deno.test("Rounds begins each round with another target and compares within rounds", async () => {
  const order: string[] = [];
  const rounds = await Rounds.measure(["a", "b"], [1], 3, (target) => {
    order.push(target);
    // The machine halves its speed from round to round; b stays twice as fast.
    const speed = 8 / 2 ** Math.floor((order.length - 1) / 2);
    return Promise.resolve({ rps: target === "a" ? speed : 2 * speed, failed: 1 });
  });
  deepEqual(order, ["a", "b", "b", "a", "a", "b"]);
  equal(rounds.compare("b", "a", 1, (b, a) => b.rps / a.rps), 2);
  equal(rounds.median("a", 1, "rps"), 4);
  equal(rounds.sum("a", 1, "failed"), 3);
  equal(rounds.has("c", 1), false);
});

Deno.test("parseBenchOptions refuses unknown options and numbers that are none", () => {
  const { names, options } = parseBenchOptions(["proxy", "--small", "--rounds", "5"]);
  deepEqual(names, ["proxy"]);
  equal(options.isSmall, true);
  equal(options.rounds, 5);
  throws(() => parseBenchOptions(["proxy", "--fast"]), /fast/);
  throws(() => parseBenchOptions(["--seconds", "soon"]), /must be a number above 0/);
});

Deno.test("bench options find llama.cpp by options, by the environment, or say what is missing", () => {
  const environment: Record<string, string> = { OTELA_LLAMA_SERVER: "s", OTELA_LLAMA_MODEL: "m" };
  const llamaOf = (args: string[], variables: Record<string, string>) =>
    parseBenchOptions(["kill", ...args], (name) => variables[name]).options.llama;
  const engine = ["--engine", "llama"];
  deepEqual(llamaOf(engine, environment), { server: "s", model: "m" });
  deepEqual(llamaOf([...engine, "--llama-model", "x"], environment), { server: "s", model: "x" });
  const both = ["--llama-server", "a", "--llama-model", "b"];
  deepEqual(llamaOf(both, {}), { server: "a", model: "b" });
  equal(llamaOf([], environment), undefined);
  equal(llamaOf(["--engine", "test"], environment), undefined);
  throws(() => llamaOf(engine, { OTELA_LLAMA_SERVER: "s" }), /--llama-model PATH or OTELA_LLAMA_M/);
  throws(() => llamaOf(both.slice(2), {}), /needs a server .*--llama-server PATH or OTELA_LLAMA_S/);
  throws(() => llamaOf(["--engine", "vllm"], environment), /must be test or llama: got "vllm"/);
  throws(() => llamaOf([...both, "--engine", "test"], {}), /with --engine test/);
});

Deno.test("ConversationCache forgets what was used longest ago, and holds no more than was said", () => {
  const cache = new ConversationCache<number>();
  for (let conversation = 0; conversation < 50; conversation++) cache.use(conversation, 100);
  equal(cache.use(0, 150), 100);
  cache.use(50, 100);
  deepEqual([cache.use(0, 200), cache.use(2, 40), cache.use(1, 100)], [150, 40, 0]);
});
