import { deepEqual, equal, match, rejects } from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { Program } from "../support/program.ts";
import { within } from "../support/within.ts";

/** A demo takes three seconds on an idle machine. */
const deadlineMs = 60_000;
const root = new URL("../..", import.meta.url);

/** Runs a task's own command with more arguments, in a process that is ended with the scope. */
function runTask(name: "demo" | "dev", args: readonly string[] = []): Program {
  const words = project.tasks[name].split(" ");
  return new Program({
    command: Deno.execPath(),
    args: [...words.slice(words.indexOf("deno") + 1), ...args],
    env: { ...Deno.env.toObject(), DENO_TLS_CA_STORE: "system,mozilla" },
    cwd: root,
  });
}

/** Every URL in what a program said so far. */
function urlsOf(program: Program): string[] {
  return [...new Set(program.stdout.text.match(/http:\/\/127\.0\.0\.1:\d+/g))];
}

/** Nothing of what a program started listens any more. */
async function assertAllEnded(program: Program, urlCount: number): Promise<void> {
  const urls = urlsOf(program);
  equal(urls.length, urlCount);
  for (const url of urls) await rejects(fetch(url), `${url} is still there`);
}

Deno.test("The demo shows a mesh that answers, loses a worker, and answers on", async () => {
  await using demo = runTask("demo");
  const { code } = await within(deadlineMs, demo.ended);
  equal(demo.stderr.text, "");
  equal(code, 0);
  const text = demo.stdout.text;
  match(text, /swiss-chat +served by worker 1 and worker 2/);
  match(text, /answers +worker \d +plain +all after \S+ m?s +The capital of Switzerland is Bern\./);
  match(text, /worker \d +streamed +first token \S+ m?s +The capital of Switzerland is Bern\./);
  match(text, /its engine is let go at most/);
  const [, killed] = /accident +worker (\d) +kill -9/.exec(text)!;
  const after = text.slice(text.indexOf("after it"));
  deepEqual(
    [...after.matchAll(/worker (\d) +(?:plain|streamed)/g)].map(([, name]) => name).length,
    4,
  );
  match(after, new RegExp(`worker ${killed} is off the list`));
  equal(text.split("\n").every((line) => line.length <= 100), true, "lines fit a terminal");
  equal(text.includes("\x1b["), false, "no colour outside a terminal");
  await assertAllEnded(demo, 5);
});

Deno.test("The demo ends all that it started when it is interrupted", async () => {
  await using demo = runTask("demo");
  await demo.stdout.waitFor((line) => line.includes("worker 2") || undefined, deadlineMs);
  demo.signal("SIGINT");
  const { code } = await within(deadlineMs, demo.ended);
  equal(code, 130);
  equal(demo.stderr.lastLine, "demo interrupted");
  await assertAllEnded(demo, 5);
});

Deno.test("The demo says in one line what failed, and exits with 1", async () => {
  await using demo = runTask("demo", ["--engine", "echo no model >&2; exit 7 # {port}"]);
  const { code } = await within(deadlineMs, demo.ended);
  equal(code, 1);
  equal(
    demo.stderr.text.trim(),
    "demo failed: The engine ended before it answered: no model",
  );
});

Deno.test("The dev mesh stays until it is interrupted, and its curl line works", async () => {
  await using dev = runTask("dev");
  await dev.stdout.waitFor((line) => line.includes("Ctrl-C") || undefined, deadlineMs);
  const command = /curl -N[^]*?'\{.*\}'/.exec(dev.stdout.text)![0];
  const curl = new Program({ command: "sh", args: ["-c", command], env: Deno.env.toObject() });
  await within(deadlineMs, curl.ended);
  match(curl.stdout.text, /^data: .*Switzerland/m);
  match(curl.stdout.text, /^data: \[DONE\]$/m);
  dev.signal("SIGTERM");
  equal((await within(deadlineMs, dev.ended)).code, 0);
  await assertAllEnded(dev, 5);
});
