import { equal, match, rejects } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import project from "../../deno.json" with { type: "json" };
import { Program } from "../support/program.ts";
import { offlineRuntime } from "../../deploy/executable/offline_runtime.ts";
import { within } from "../support/within.ts";

const deadlineMs = 60_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs the task's own command, behind `before`. */
function compile(before: readonly string[], env: Record<string, string>): Program {
  const words = project.tasks.compile.split(" ");
  const command = [...before, Deno.execPath(), ...words.slice(words.indexOf("deno") + 1)];
  return new Program({
    command: command[0],
    args: command.slice(1),
    env: { ...Deno.env.toObject(), ...env },
    cwd: root,
  });
}

/** Runs `use` with an npm that does as the shell script says. */
async function withNpm(
  script: string,
  use: (folder: string, npm: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "otela-npm-" });
  try {
    await Deno.writeTextFile(`${folder}/npm`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await use(folder, `${folder}/npm`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("C077: compile works unplugged once everything was fetched, and says which way it took", async () => {
  const unplugged = ["unshare", "--map-root-user", "--net"];
  const can = await new Deno.Command(unplugged[0], { args: [...unplugged.slice(1), "true"] })
    .output().then(({ success }) => success, () => false);
  if (!can) console.log("This machine lets nobody unplug a process: tested with its network");
  await using task = compile(can ? unplugged : [], {});
  const { code } = await within(deadlineMs, task.ended);
  equal(task.stderr.text, "");
  equal(code, 0);
  const [way, made] = task.stdout.text.split("\n");
  match(way, /^(runtime of Deno|offline build with the runtime of Deno) \d/);
  match(made, /^dist\/otela-\S+, \d+ MB: otela \d/);
});

Deno.test("C077: compile takes no other way than DENORT_BIN when it is set, and says what is wrong with it", async () => {
  await using none = compile([], { DENORT_BIN: "/nowhere/denort" });
  equal((await within(deadlineMs, none.ended)).code, 1);
  equal(none.stderr.text, 'compile: DENORT_BIN must name a file: got "/nowhere/denort"');

  await using other = compile([], { DENORT_BIN: "/bin/true" });
  equal((await within(deadlineMs, other.ended)).code, 1);
  match(other.stderr.text, /^compile: DENORT_BIN must be the compile runtime of Deno \d/);
});

Deno.test("C077: offlineRuntime says why npm cannot fetch, and leaves nothing behind", async () => {
  const script =
    "echo 'npm error network request failed, reason: getaddrinfo ENOTFOUND' >&2; exit 1";
  await withNpm(script, async (folder, npm) => {
    await rejects(offlineRuntime(`${folder}/cache`, npm), {
      message: /^npm cannot fetch @stdy\/cli-linux-x64@[\d.]+: getaddrinfo ENOTFOUND$/,
    });
    equal([...Deno.readDirSync(`${folder}/cache`)].length, 0);
  });
});

Deno.test("C077: offlineRuntime refuses a program of other bytes", async () => {
  // Packs a copy of an ELF file of this machine in the place of the program.
  const script = `for arg; do case $arg in --pack-destination=*) to=\${arg#*=};; esac; done
mkdir -p "$to/package/bin" && cp /bin/true "$to/package/bin/steady" && cd "$to" && tar -czf x.tgz package`;
  await withNpm(script, async (folder, npm) => {
    await rejects(offlineRuntime(`${folder}/cache`, npm), {
      message: /must have SHA-256 f12d5d38/,
    });
    equal([...Deno.readDirSync(`${folder}/cache`)].length, 0);
  });
});
