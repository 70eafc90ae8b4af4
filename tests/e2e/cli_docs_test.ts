// Do the command lines that our documents show do what a reader expects?
import { ok } from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { docBlocks } from "../support/doc_commands.ts";
import { DocMachine } from "../support/doc_machine.ts";
import { startEngine } from "../support/engine.ts";

const root = new URL("../../", import.meta.url);
const docs = [...Deno.readDirSync(new URL("docs/", root))].map(({ name }) => `docs/${name}`);

/** Tasks are run here, where their lines would take minutes. */
const testsOfTasks: Readonly<Record<string, string>> = {
  compile: "tests/support/executable.ts",
  demo: "tests/e2e/demo_test.ts",
  dev: "tests/e2e/demo_test.ts",
  test: ".ci/run",
};

for (const file of ["README.md", ...docs.filter((name) => name.endsWith(".md")).sort()]) {
  const blocks = docBlocks(Deno.readTextFileSync(new URL(file, root)));
  if (blocks.length === 0) continue;

  Deno.test(`Command lines of ${file} do what they say`, async (t) => {
    await using stack = new AsyncDisposableStack();
    const engine = startEngine({ models: ["Qwen3-8B"] });
    stack.defer(() => engine.stop());
    const machines = new Map<string, DocMachine>();
    const asHere = (line: string) =>
      line.replaceAll("http://head.example.org:8092", machines.get("head")?.http ?? "")
        .replace("--service.port 8000", `--service.port ${new URL(engine.url).port}`);

    for (const { line, commands, machine, whyNot } of blocks) {
      if (whyNot !== null) continue;
      await t.step(`line ${line}`, async () => {
        const alone = machine === null ? await DocMachine.create() : undefined;
        await using _ = alone;
        if (machine !== null && !machines.has(machine)) {
          machines.set(machine, stack.use(await DocMachine.create()));
        }
        const where = alone ?? machines.get(machine!)!;
        for (const command of commands) {
          checkTask(command);
          if (command.startsWith("otela explain ")) {
            // Its reader has a node that offers the model.
            await where.run(asHere("otela start --service.name llm --service.port 8000"));
          }
          const isAnswer = (text: string) => text.includes("Qwen3-8B") && !text.includes('"error"');
          const isCandidate = (text: string) => /^peer .* why$/m.test(text);
          const known = command.startsWith("curl ") ? isAnswer : isCandidate;
          await where.run(
            asHere(command),
            /^(curl|otela explain) /.test(command) ? known : undefined,
          );
        }
      });
    }
  });
}

/** A line that runs a task names one that exists, and that a test of its own runs. */
function checkTask(command: string): void {
  const name = /^npx -y deno@2\.9\.6 task (\S+)/.exec(command)?.[1];
  if (name === undefined) return;
  ok(name in project.tasks, `${command}: no such task`);
  const text = Deno.readTextFileSync(new URL(testsOfTasks[name], root));
  ok(text.includes(name), `${testsOfTasks[name]} runs "${name}"`);
}
