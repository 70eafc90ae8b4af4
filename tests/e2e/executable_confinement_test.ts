import { deepEqual, equal, match } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { bundle } from "../../deploy/executable/bundle.ts";
import { compileBundles } from "../../deploy/executable/compile_bundles.ts";
import { runProgram } from "../../deploy/executable/run_program.ts";
import { findRuntime } from "../../deploy/executable/runtime.ts";
import { assertConfined } from "../support/confined.ts";
import { foreignPath } from "../support/executable.ts";
import { Program } from "../support/program.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The executable as `deno task compile` makes it, but for one module: its node thread is the probe, which tries
 * what a node that is no longer ours would. So it is the executable's own launcher that confines it.
 */
async function compileWithProbe(folder: string): Promise<string> {
  const runtime = await findRuntime(`${root}.cache/compile`);
  const bundles = await bundle(root, `${folder}/bundle`, runtime);
  const nodeThread = bundles.threads.filter((path) => path.endsWith("/lib/node/thread.js"));
  equal(nodeThread.length, 1);
  const probe = `${root}tests/support/threads/probe.ts`;
  await runProgram("Cannot bundle the probe", {
    command: [...runtime.deno, "bundle", "--quiet", `--output=${nodeThread[0]}`, probe],
    env: runtime.env,
    cwd: root,
    limitMs: deadlineMs,
  });
  await compileBundles(bundles, `${folder}/otela`, runtime);
  return `${folder}/otela`;
}

/** Names as the probe gave them, which `--json` writes with underscores. */
function inCamelCase(results: Record<string, string>): Record<string, string> {
  const name = (text: string) => text.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(results).map(([key, value]) => [name(key), value]));
}

Deno.test("The executable's node thread is refused a shell, ~/.ssh, a foreign write, and the environment", async () => {
  const folder = await Deno.makeTempDir({ prefix: "otela-probe-" });
  try {
    const exe = await compileWithProbe(folder);
    const home = `${folder}/home`;
    await Deno.mkdir(`${home}/.ssh`, { recursive: true });
    await Deno.writeTextFile(`${home}/.ssh/id_ed25519`, "secret");
    const places = ["--state-dir", `${folder}/state`, "--config-dir", `${folder}/config`];
    await using program = new Program({
      command: exe,
      args: ["start", "--json", "--port", "0", "--tcpport", "0", ...places],
      env: { HOME: home, PATH: foreignPath, XDG_RUNTIME_DIR: folder },
      cwd: folder,
    });
    const results = await program.stdout.waitFor((line) => {
      const { event, ...trials } = JSON.parse(line) as Record<string, string>;
      return event === "probe.done" ? inCamelCase(trials) : undefined;
    }, deadlineMs);
    assertConfined(results);
    deepEqual([...Deno.readDirSync(home)].map(({ name }) => name), [".ssh"]);
    program.signal("SIGTERM");
    await within(deadlineMs, program.ended);
    match(program.stdout.text, /"probe.stopping","reason":"SIGTERM"/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
