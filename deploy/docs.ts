// How do the reference pages come about? `deno task docs` writes them; a test fails when they differ.
import { commandsPage } from "./docs_commands.ts";
import { configPage } from "./docs_config.ts";

/** Every page that is written, by its file. */
export const pages: ReadonlyMap<string, () => string> = new Map([
  ["docs/COMMANDS.md", commandsPage],
  ["docs/CONFIG.md", configPage],
]);

if (import.meta.main) {
  for (const [file, page] of pages) {
    await Deno.writeTextFile(new URL(`../${file}`, import.meta.url), page());
    console.log(file);
  }
}
