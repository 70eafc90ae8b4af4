import { equal, match } from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { executable } from "../support/executable.ts";
import { Program } from "../support/program.ts";
import { within } from "../support/within.ts";

/** A demo takes three seconds on an idle machine. */
const deadlineMs = 60_000;

Deno.test("The demo runs with the executable, named from where the person is", async () => {
  const words = project.tasks.demo.split(" ");
  const slash = executable.lastIndexOf("/");
  await using demo = new Program({
    command: Deno.execPath(),
    args: [...words.slice(words.indexOf("deno") + 1), "--exe", executable.slice(slash + 1)],
    env: { ...Deno.env.toObject(), INIT_CWD: executable.slice(0, slash) },
    cwd: new URL("../..", import.meta.url),
  });
  const { code } = await within(deadlineMs, demo.ended);
  equal(demo.stderr.text, "");
  equal(code, 0);
  match(demo.stdout.text, /after it +worker \d +plain/);
  match(demo.stdout.text, /worker \d is off the list/);
});
