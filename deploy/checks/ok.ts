// May this be committed? Form, types, tidiness, tests, and small runs of the benches. `--no-tests` leaves the tests out.
import { runSteps, type Step } from "./step.ts";
import { allTests } from "./test_steps.ts";

const deno = Deno.execPath();
const sources = ["main.ts", "mod.ts", "lib", "cli", "deploy", "bench", "tests"];
const before: Step[] = [
  { name: "form", command: [deno, "fmt", "--check"] },
  { name: "lint", command: [deno, "lint", "--quiet"] },
  { name: "types", command: [deno, "check", "--quiet", ...sources] },
  {
    name: "tidy",
    command: [deno, "test", "--no-prompt", "--allow-read=.", "tests/tidy_test.ts"],
  },
];
const benches: Step[] = [
  "start",
  "proxy",
  "stream",
  "idle_streams",
  "balance",
  "prefix",
  "cancels",
  "idle",
  "convergence",
  "churn",
  "memory",
]
  .map((bench) => ({
    name: `bench ${bench}, small`,
    command: [deno, "task", "--quiet", "bench", bench, "--small"],
  }));
const tests = Deno.args.includes("--no-tests")
  ? []
  : await allTests(new URL("../../", import.meta.url));

Deno.exit(await runSteps([...before, ...tests, ...benches]));
