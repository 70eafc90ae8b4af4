import { deepEqual, equal, match, ok } from "node:assert/strict";
import { runnableCommands } from "../../cli/commands.ts";
import project from "../../deno.json" with { type: "json" };
import { executable as exe, foreignPath } from "../support/executable.ts";
import { startNode } from "../support/node_process.ts";
import { Program } from "../support/program.ts";
import { within } from "../support/within.ts";

const deadlineMs = 10_000;
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];
const freePorts = ["--port", "0", "--tcpport", "0"];

/** Exit codes of commands that are typed alone where no node runs and none has run. */
const codesAlone: Readonly<Record<string, number>> = {
  "init": 0,
  "status": 5,
  "stop": 5,
  "explain": 5,
  "peers": 5,
  "drain": 5,
  "service list": 5,
  "service add": 2,
  "service remove": 2,
  "peer-id": 0, // After `init`.
  "version": 0,
};

/** A command line that ends by itself, and how; `undefined` where 0, 1 and 2 are right. */
type Line = { readonly words: readonly string[]; readonly code: number | undefined };

/** Every command alone (but `start`, which stays), its help, and mistakes. */
const lines: readonly Line[] = [
  { words: [], code: 0 },
  { words: ["--version"], code: 0 },
  { words: ["verison"], code: 2 },
  { words: ["start", "--config", "cfg.yaml"], code: 2 },
  ...runnableCommands().flatMap(({ path }) => {
    const words = path.split(" ");
    const help = { words: ["help", ...words], code: 0 };
    return path === "start" ? [help] : [{ words, code: codesAlone[path] }, help];
  }),
];

/** An empty folder with a configuration that cannot be loaded; removed afterwards. */
async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "otela-exe-" });
  await Deno.writeTextFile(`${folder}/cfg.yaml`, "prot: 1\n");
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs to its end and returns what it said, in both outputs. It must not be Deno that speaks. */
async function runToEnd(
  command: readonly string[],
  options: { folder: string; env?: Record<string, string>; input?: "open" },
): Promise<{ code: number; text: string }> {
  const { folder, env = { HOME: folder }, input } = options;
  await using program = new Program({
    command: command[0],
    args: command.slice(1),
    env: { PATH: foreignPath, ...env },
    cwd: folder,
    input,
  });
  const { code } = await within(deadlineMs, program.ended);
  const text = program.stdout.text + program.stderr.text;
  for (const foreign of ["--allow-", "Uncaught", "NotCapable", "Stack backtrace"]) {
    ok(!text.includes(foreign), `${command.join(" ")}: ${text}`);
  }
  return { code, text };
}

/** Runs every line, each behind `before`. */
async function runAll(before: readonly string[], input?: "open"): Promise<void> {
  await inFolder(async (folder) => {
    for (const { words, code: wanted } of lines) {
      const { code, text } = await runToEnd([...before, exe, ...words], { folder, input });
      const told = `${words.join(" ")}: ${code} ${text}`;
      if (wanted === undefined) ok(code <= 2, told);
      else equal(code, wanted, told);
      if (words.includes("cfg.yaml")) match(text, /cfg\.yaml:1:1.*prot.*port/s);
    }
  });
}

Deno.test("The executable says what it is, and how it was built", async () => {
  await inFolder(async (folder) => {
    const { code, text } = await runToEnd([exe, "version", "--json"], { folder, env: {} });
    equal(code, 0);
    const { otela, target, build } = JSON.parse(text);
    deepEqual([otela, target], [project.version, Deno.build.target]);
    ok(["given", "downloaded", "offline"].includes(build), build);
  });
});

Deno.test("C076: every command does its work unplugged, in an empty folder, with no cache and no Deno", async () => {
  const unplugged = ["unshare", "--map-root-user", "--net"];
  const can = await new Deno.Command(unplugged[0], { args: [...unplugged.slice(1), "true"] })
    .output().then(({ success }) => success, () => false);
  if (!can) console.log("This machine lets nobody unplug a process: tested with its network");
  await runAll(can ? unplugged : []);
});

Deno.test("C079: no command asks for a permission or waits, on a terminal that gives no input", async () => {
  // `script` takes one text for a shell, so the words go in as the shell's own arguments.
  const inTerminal = ["sh", "-c", 'exec script --quiet --return --command "$*" /dev/null', "sh"];
  await runAll(inTerminal, "open");
});

Deno.test("C079: no command asks for a permission or waits, in a job whose input never ends", async () => {
  await runAll([], "open");
});

Deno.test("The executable starts from a foreign folder, without TMPDIR, with LD_LIBRARY_PATH, and stops with 0", async () => {
  await inFolder(async (folder) => {
    await using program = new Program({
      command: exe,
      args: ["start", "--json", ...freePorts, ...onLoopback],
      env: {
        HOME: folder,
        PATH: foreignPath,
        TMPDIR: `${folder}/nothing`,
        LD_LIBRARY_PATH: "/nowhere",
      },
      cwd: "/proc", // Nobody can write there.
    });
    const event = await program.stdout.waitFor((line) => JSON.parse(line).event, deadlineMs);
    equal(event, "ready");
    program.signal("SIGTERM");
    equal((await within(deadlineMs, program.ended)).code, 0);
  });
});

Deno.test("The executable says in one line that HOME is missing, and starts when told where to be", async () => {
  await inFolder(async (folder) => {
    const start = [exe, "start", "--json", ...freePorts, ...onLoopback];
    const { code, text } = await runToEnd(start, { folder, env: {} });
    equal(code, 2);
    match(text, /^otela: .*HOME must be set/);
    equal(text.split("\n").length, 1);

    const places = ["--state-dir", `${folder}/state`, "--config-dir", `${folder}/config`];
    await using program = new Program({
      command: exe,
      args: [...start.slice(1), ...places],
      env: {},
      cwd: folder,
    });
    await program.stdout.waitFor(
      (line) => JSON.parse(line).event === "ready" || undefined,
      deadlineMs,
    );
  });
});

Deno.test("The executable says in one line that HOME cannot be written", async () => {
  await inFolder(async (folder) => {
    const env = { HOME: "/sys" }; // Not even root makes a folder there.
    const { code, text } = await runToEnd([exe, "start", ...freePorts], { folder, env });
    equal(code, 1);
    match(text, /^otela: .*\/sys\/.*writable/);
    equal(text.split("\n").length, 1);
  });
});

Deno.test("The executable writes nothing into the temporary folder that another user could have put there", async () => {
  await inFolder(async (folder) => {
    const temporary = `${folder}/tmp`;
    await Deno.mkdir(temporary);
    const env = { TMPDIR: temporary, XDG_RUNTIME_DIR: folder };
    await using node = await startNode({ home: folder, exe, env, args: onLoopback });
    node.program.signal("SIGTERM");
    equal((await within(deadlineMs, node.program.ended)).code, 0);
    await runToEnd([exe, "version"], { folder, env });
    deepEqual([...Deno.readDirSync(temporary)], []);
  });
});
