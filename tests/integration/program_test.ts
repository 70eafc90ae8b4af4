import { equal, rejects } from "node:assert/strict";
import { Program } from "../support/program.ts";
import { within } from "../support/within.ts";

const deadlineMs = 10_000;

function shell(script: string, signal?: AbortSignal): Program {
  const env = { PATH: Deno.env.get("PATH")! };
  return new Program({ command: "sh", args: ["-c", script], env, signal });
}

Deno.test("Program ends what its program left behind, and keeps what was said", async () => {
  await using program = shell("sleep 1000 & echo started; exit 3");
  const { code } = await within(deadlineMs, program.ended); // The sleep holds the outputs open.
  equal(code, 3);
  equal(program.stdout.text, "started");
});

Deno.test("Program kills a program that does not hear TERM", async () => {
  const program = shell("trap '' TERM; echo deaf; while :; do sleep 1; done");
  await program.stdout.waitFor((line) => line === "deaf" || undefined, deadlineMs);
  equal((await within(deadlineMs, program.end(50))).signal, "SIGKILL");
});

Deno.test("Program ends with its signal, and does not begin after it", async () => {
  const controller = new AbortController();
  const program = shell("echo up; sleep 1000", controller.signal);
  await program.stdout.waitFor((line) => line === "up" || undefined, deadlineMs);
  controller.abort(new Error("enough"));
  equal((await within(deadlineMs, program.ended)).signal, "SIGTERM");
  await rejects(async () => await shell("echo up", controller.signal).ended, /enough/);
});

Deno.test("LineRecord finds lines said before and after, and tells when none will come", async () => {
  await using program = shell("echo one; read answer < /dev/null; echo two");
  const line = (wanted: string) =>
    program.stdout.waitFor((text) => text === wanted ? text : undefined, deadlineMs);
  equal(await line("two"), "two");
  equal(await line("one"), "one");
  await rejects(line("three"), /its output has ended; last line: "two"/);
});
