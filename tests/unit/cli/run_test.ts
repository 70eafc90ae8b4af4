import { deepEqual, equal, match } from "node:assert/strict";
import { commands, runnableCommands } from "../../../cli/commands.ts";
import { runCommand } from "../../support/command_io.ts";

Deno.test("run prints the help on standard output when nothing was typed", async () => {
  const { code, out, err } = await runCommand([]);
  equal(code, 0);
  deepEqual(err, []);
  for (const { name, summary } of commands) {
    match(out.join("\n"), new RegExp(`^  ${name}[ |].*${summary}$`, "m"));
  }
});

Deno.test("run answers a mistyped command or flag with the nearest and exit code 2", async () => {
  const cases = [
    [["strat"], "otela: unknown command 'strat' (Did you mean start?)"],
    [["service", "ad"], "otela: unknown command 'ad' (Did you mean add?)"],
    [["start", "--tcport", "1"], "otela: unknown option '--tcport' (Did you mean --tcpport?)"],
    [["version", "--jsn"], "otela: unknown option '--jsn' (Did you mean --json?)"],
    [["help", "servise"], "otela: unknown command 'servise' (Did you mean service?)"],
  ] as const;
  for (const [args, message] of cases) {
    deepEqual(await runCommand(args), { code: 2, out: [], err: [message] });
  }
});

Deno.test("run says where to look when nothing is near, and never repeats a value", async () => {
  const cases = [
    [["zebra"], `otela: unknown command 'zebra': "otela help" lists them`],
    [
      ["wallet", "list"],
      "otela: unknown command 'wallet': this version does not deal with wallets",
    ],
    [
      ["start", "--registry.lease", "3h"],
      "otela: unknown option '--registry.lease': set it in the file, or as OF_REGISTRY_LEASE",
    ],
    [
      ["start", "--network.secret=hush-hush"],
      "otela: unknown option '--network.secret': set it in the file, or as OF_NETWORK_SECRET",
    ],
    [["status", "--port", "1"], `otela: unknown option '--port': it is a flag of "otela start"`],
  ] as const;
  for (const [args, message] of cases) {
    deepEqual(await runCommand(args), { code: 2, out: [], err: [message] });
  }
});

Deno.test("run says in one line what an argument lacks", async () => {
  deepEqual(await runCommand(["service", "add", "llm"]), {
    code: 2,
    out: [],
    err: ["otela: missing required argument 'url'"],
  });
  deepEqual(await runCommand(["version", "now"]), {
    code: 2,
    out: [],
    err: ["otela: too many arguments for 'version'. Expected 0 arguments but got 1: now"],
  });
});

Deno.test("run explains each command, its flags included, as `help` and as `--help`", async () => {
  const groups = commands.filter((spec) => "commands" in spec).map(({ name }) => name);
  for (const path of [...groups, ...runnableCommands().map(({ path }) => path), "help"]) {
    const names = path.split(" ");
    const asked = await runCommand(["help", ...names]);
    equal(asked.code, 0);
    match(asked.out[0], new RegExp(`^Usage: otela ${path}`));
    deepEqual(await runCommand([...names, "--help"]), asked);
  }
  deepEqual(await runCommand(["leave", "--help"]), await runCommand(["help", "stop"]));
  const { out } = await runCommand(["help", "start"]);
  for (const flag of ["--json", "--port <int>", "--service.name", "--state-dir"]) {
    match(out.join("\n"), new RegExp(`^  ${flag}`, "m"));
  }
});

Deno.test("run does not show flags that do nothing, but knows them", async () => {
  const { out } = await runCommand(["help", "start"]);
  equal(out.some((line) => line.includes("--ingest-url")), false);
  const { err } = await runCommand(["start", "--ingest-url", "x", "--port", "none"]);
  match(err.join("\n"), /--port: must be a whole number/);
});

Deno.test("run prints the version for people and for programs", async () => {
  const { out: [line] } = await runCommand(["version"]);
  match(line, /^otela \d+\.\d+\.\d+ \(deno \d+\.\d+\.\d+, [\w-]+, from source\)$/);
  deepEqual((await runCommand(["--version"])).out, [line]);
  const { out: [json] } = await runCommand(["version", "--json"]);
  deepEqual(Object.keys(JSON.parse(json)), ["otela", "deno", "target", "build"]);
});

Deno.test("run refuses a wrong configuration with every place and exit code 2", async () => {
  const { code, out, err } = await runCommand(["start", "--port", "70000"], {
    env: { OF_TCPPORT: "abc" },
  });
  equal(code, 2);
  deepEqual(out, []);
  match(err.join("\n"), /--port/);
  match(err.join("\n"), /OF_TCPPORT/);
});

Deno.test("run takes the flags that say which node is meant before and after the command", async () => {
  for (
    const args of [["--state-dir", "/no/where", "peer-id"], ["peer-id", "--state-dir", "/no/where"]]
  ) {
    const { code, err } = await runCommand([...args, "--instance", "second"]);
    equal(code, 1);
    match(err[0], /"\/no\/where\/instances\/second\/keys\/id"/);
  }
});
