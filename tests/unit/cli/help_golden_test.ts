import { commands, runnableCommands } from "../../../cli/commands.ts";
import { runCommand } from "../../support/command_io.ts";
import { expectGolden } from "../../support/golden.ts";

Deno.test("help of every command is as somebody last read it", async () => {
  const groups = commands.filter((spec) => "commands" in spec).map(({ name }) => name);
  const paths = ["", ...groups, ...runnableCommands().map(({ path }) => path)];
  const texts: string[] = [];
  for (const path of paths) {
    const words = path === "" ? ["help"] : ["help", ...path.split(" ")];
    const { out } = await runCommand(words);
    texts.push([`$ otela ${words.join(" ")}`, ...out].join("\n"));
  }
  await expectGolden("help.txt", texts.join("\n\n") + "\n");
});
