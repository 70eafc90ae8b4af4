// Does everything that the library exports say how it is used, and is what it and the documents show true?
import { deepEqual, equal, match } from "node:assert/strict";
import { readRepository } from "../tidy/repository.ts";

const root = new URL("../../", import.meta.url);
const documents = ["docs/ARCHITECTURE.md", "docs/PROTOCOL.md"];
const exported = /export (?:type )?\{([^}]+)\} from "\.\/([^"]+)"/g;

/** Names that mod.ts hands on, by file. */
async function publicNames(): Promise<Map<string, string[]>> {
  const text = await Deno.readTextFile(new URL("mod.ts", root));
  const names = new Map<string, string[]>();
  for (const [, list, file] of text.matchAll(exported)) {
    const found = list.split(",").map((name) => name.replace(/\btype\b/, "").trim());
    names.set(file, [...names.get(file) ?? [], ...found.filter((name) => name !== "")]);
  }
  return names;
}

Deno.test("every name of mod.ts has a docstring with an example", async () => {
  const files = await publicNames();
  equal(files.size > 8, true);
  const without: string[] = [];
  for (const [file, names] of files) {
    const text = await Deno.readTextFile(new URL(file, root));
    for (const name of names) {
      const form = `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport (?:async )?\\w+ ${name}\\b`;
      const [, doc = ""] = new RegExp(form).exec(text) ?? [];
      if (!/@example[\s\S]*```ts\n/.test(doc)) without.push(`${name} in ${file}`);
    }
  }
  deepEqual(without, []);
});

Deno.test("every file that the documents name is there", async () => {
  const { files } = await readRepository(root);
  const paths = files.map(({ path }) => `/${path}`);
  const missing: string[] = [];
  for (const document of documents) {
    const text = await Deno.readTextFile(new URL(document, root));
    for (const [name] of text.matchAll(/\w[\w/]*\.ts\b/g)) {
      if (!paths.some((path) => path.endsWith(`/${name}`))) missing.push(`${document}: ${name}`);
    }
  }
  deepEqual(missing, []);
});

Deno.test("every example of the library and of its documents works", async () => {
  const files = ["mod.ts", ...(await publicNames()).keys(), ...documents];
  const permissions = ["net", "read", "write", "sys", "env"].map((name) => `--allow-${name}`);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--doc", "--quiet", "--no-prompt", "--parallel", ...permissions, ...files],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const output = new TextDecoder().decode(stdout);
  equal(code, 0, output + new TextDecoder().decode(stderr));
  match(output, / \| (3\d|[4-9]\d) passed/);
});
