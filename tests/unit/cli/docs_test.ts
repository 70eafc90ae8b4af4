import { equal, ok } from "node:assert/strict";
import project from "../../../deno.json" with { type: "json" };
import { runnableCommands } from "../../../cli/commands.ts";
import { pages } from "../../../deploy/docs.ts";
import { runCommand } from "../../support/command_io.ts";
import { inlineCommands } from "../../support/doc_commands.ts";

const root = new URL("../../../", import.meta.url);

for (const [file, page] of pages) {
  Deno.test(`${file} is what the program says of itself`, async () => {
    const text = await Deno.readTextFile(new URL(file, root));
    equal(text, page(), `${file} differs: deno task docs`);
  });
}

const docs = [
  "README.md",
  ...[...Deno.readDirSync(new URL("docs/", root))].map(({ name }) => `docs/${name}`),
].filter((file) => file.endsWith(".md"));

for (const file of docs) {
  Deno.test(`commands named in the text of ${file} exist`, async () => {
    for (const command of inlineCommands(await Deno.readTextFile(new URL(file, root)))) {
      const words = command.split(" ");
      const task = /^(?:npx -y deno@2\.9\.6|deno) task ([a-z_]+)/.exec(command)?.[1];
      if (words[0] === "otela") await checkCommand(words.slice(1));
      else if (task) ok(task in project.tasks, `${command}: no such task`);
      else ok(/^npx -y deno@2\.9\.6 (test|fmt|install) ?/.test(command), command);
    }
  });
}

/** What is named is a command, with flags that its help knows. */
async function checkCommand(words: readonly string[]): Promise<void> {
  const line = `otela ${words.join(" ")}`;
  const names = words.filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith("-"));
  const isKnown = [
    "help",
    ...runnableCommands().flatMap(({ path, spec }) => [
      ...path.split(" "),
      spec.alias,
    ]),
  ].includes(names[0]);
  ok(isKnown, `${line}: no such command`);
  const { code, out } = await runCommand(["help", ...names.slice(0, 2)]).then((result) =>
    result.code === 0 ? result : runCommand(["help", names[0]])
  );
  equal(code, 0, line);
  for (const flag of words.filter((word) => word.startsWith("--"))) {
    ok(out.some((text) => text.includes(flag)), `${line}: no such flag`);
  }
}
