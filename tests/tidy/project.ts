// Is the ground in order: top level, dependencies, permissions?
import { importsOf } from "./imports.ts";
import { findAll, type Finding, type SourceFile } from "./source_file.ts";

/** Everything that may stand at the top, beside dotfiles. */
export const topLevel: readonly string[] = [
  "LICENSE",
  "README.md",
  "bench",
  "cli",
  "deno.json",
  "deno.lock",
  "deploy",
  "docs",
  "lib",
  "main.ts",
  "mod.ts",
  "tests",
];

/** What `deno.json` says that rules are about. */
export type ProjectConfig = { readonly imports: Readonly<Record<string, string>> };

const exactImport = /^npm:((?:@[\w.-]+\/)?[\w.-]+)@\d+\.\d+\.\d+(?:\/[\w./-]+)?$/;

/** @param names What stands at the top of the repository, build output and dotfiles left out. */
export function topLevelAsAgreed(names: readonly string[]): Finding[] {
  const why =
    "The top level is a table of contents; what is new belongs into one of its folders, what is missing is missed";
  const extra = names.filter((name) => !topLevel.includes(name))
    .map((path) => ({ path, line: 0, what: "does not belong to the top level", why }));
  const missing = topLevel.filter((name) => !names.includes(name))
    .map((path) => ({ path, line: 0, what: "is missing at the top level", why }));
  return [...extra, ...missing];
}

/** The same versions for everybody. */
export function exactVersions({ imports }: ProjectConfig): Finding[] {
  const why = "Dependencies have exact versions: what was tested is what runs";
  return Object.entries(imports).filter(([, target]) => !exactImport.test(target))
    .map(([name, target]) => ({ path: "deno.json", line: 0, what: `${name}: ${target}`, why }));
}

/** Every dependency can say why it is here. */
export function explainedDependencies({ imports }: ProjectConfig, explained: string): Finding[] {
  const why =
    "Each dependency has a line in docs/DEPENDENCIES.md that says what it does for us, who keeps it and what else there was";
  const names = new Set(Object.values(imports).map((target) => exactImport.exec(target)?.[1]));
  return [...names].filter((name) => name !== undefined && !explained.includes(`\`${name}\``))
    .map((name) => ({
      path: "docs/DEPENDENCIES.md",
      line: 0,
      what: `has no line on ${name}`,
      why,
    }));
}

/** No dependency that nobody uses, none by another way than `deno.json`. */
export function usedDependencies(
  { imports }: ProjectConfig,
  files: readonly SourceFile[],
): Finding[] {
  const whyUsed =
    "A dependency that nothing imports is removed: it costs downloads, updates and trust";
  const whyNamed =
    "Packages come in by their name in deno.json alone: one place lists versions and is frozen";
  const found = files.filter(({ path }) => path.endsWith(".ts") && !path.startsWith("tests/tidy"))
    .flatMap((file) => importsOf(file).map((one) => ({ file, ...one })));
  const used = new Set(found.map(({ specifier }) => specifier));
  const isTypesOnly = (name: string) => name.startsWith("@types/");
  return [
    ...Object.keys(imports).filter((name) => !used.has(name) && !isTypesOnly(name))
      .map((name) => ({
        path: "deno.json",
        line: 0,
        what: `${name} is never imported`,
        why: whyUsed,
      })),
    ...found.filter(({ specifier }) => /^(npm|jsr|https?):/.test(specifier))
      .map(({ file, line, specifier }) => ({
        path: file.path,
        line,
        what: `imports ${specifier}`,
        why: whyNamed,
      })),
  ];
}

/** Whatever users run names what it may do. */
export function namedPermissions(files: readonly SourceFile[]): Finding[] {
  const why =
    "What users run names its permissions: a program that may do everything cannot be trusted with a key on a shared machine";
  return files.filter(({ path }) => /^(deno\.json|README\.md|deploy\/|docs\/|\.ci\/)/.test(path))
    .flatMap((file) => findAll(file, /--allow-all\b|(?<=[\s"'`])-A(?=[\s"'`])/g, why));
}
