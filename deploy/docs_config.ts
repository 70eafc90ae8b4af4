// What does the reference of the configuration say?
import { describeKeys, type KeyDescription } from "../lib/config/describe.ts";
import { keyHeadings } from "../lib/config/key_heading.ts";
import { newConfigFile } from "../lib/config/new_file.ts";
import { code, list, page, paragraph, table } from "./docs_markdown.ts";

/** `docs/CONFIG.md`. */
export function configPage(): string {
  const keys = describeKeys();
  return page([
    "# Configuration",
    paragraph(
      "Every key there is, from the table that the program itself reads (`lib/config/schema.ts`): `deno task docs` writes this page. What your node makes of it: `otela config show`. Whether it is right: `otela config check`.",
    ),
    ...rules,
    ...keyHeadings.flatMap((heading) => section(heading, keys)),
  ]);
}

const rules: readonly string[] = [
  "## Who says what",
  paragraph("A value comes from the first of these that has one:"),
  [
    "1. a flag of the command line,",
    "2. a variable of the environment,",
    "3. the file,",
    "4. the default.",
  ].join("\n"),
  paragraph(
    "The file is the one that `--config` or `OF_CONFIG` names, else `cfg.yaml` in the folder of `--config-dir` or `OF_CONFIG_DIR`, else `~/.config/opentela/cfg.yaml`, else `~/.config/ocf/cfg.yaml`. There need not be one. Only `otela init` ever writes it. It begins as this, which changes nothing until a `#` goes:",
  ),
  `\`\`\`yaml\n${newConfigFile}\`\`\``,
  paragraph(
    "A mistake stops the start with exit code 2 and its place: an unknown key (with the nearest one), a key given twice, a value of the wrong type, a tab. A variable that begins with `OF_` and is none of ours is a warning, as it may belong to another version.",
  ),
  "## How values are written",
  list([
    "**Keys** may be nested or written with dots, in any case: `service.port: 8000` is `service:` with `port: 8000` below it.",
    "**Variables** are `OF_` and the key in capitals, with `_` for dots and dashes: `lb-policy` is `OF_LB_POLICY`, `service.port` is `OF_SERVICE_PORT`. An empty one is as good as none. One variable changes one key and leaves its neighbours.",
    "**Flags** are in the tables below. A flag of a list or map may be repeated. A secret has none, as others on the machine can read command lines.",
    "**int, float** are plain numbers, **bool** is `true`, `false`, `1` or `0` and nothing else.",
    "**duration** has units: `250ms`, `10s`, `1h30m`. **bytes** too: `512KiB`, `4MiB`, `2GiB`.",
    "**path** starts where it was written, the folder of the file or the working directory; `~` is your home.",
    '**list** in the file is a YAML list. In variables and flags it is JSON, `["a","b"]`, or entries between commas or blanks.',
    "**map** in the file is `key: value`; elsewhere JSON, or `key=value` between commas or blanks.",
  ]),
];

/** What stands before the keys of a heading. */
const introductions: Readonly<Record<string, string>> = {
  "Service":
    "These keys describe one service. The list `services` has any number: each entry has the same keys without `service.`, such as `{name: llm, port: 8000}`. A service has exactly one of `port`, `url` and `socket`.",
  "First peers":
    "One address is enough to enter a mesh. An entry is a multiaddr (`/ip4/192.0.2.7/tcp/43905/p2p/12D3KooW…`), `dnsaddr://host`, the URL of a head (`http://head.example.org:8092/v1/dnt/bootstraps`) or `file:PATH`, a file that a head writes on a shared disk. All keys count together. No public list is asked unless you name it.",
  "Without effect":
    "The original's files and command lines load. These keys of it do nothing here, or nothing yet; set to something else than the original's default, each is one line of warning.",
  "Refused":
    "These keys of the original promise protection, payment or a process, which this version cannot do. Set to something else than the original's default they stop the start: silence would harm.",
};

function section(heading: string, keys: readonly KeyDescription[]): string[] {
  const mine = keys.filter((key) => key.heading === heading);
  const introduction = introductions[heading];
  const hasEffect = heading !== "Without effect" && heading !== "Refused";
  return [
    `## ${heading}`,
    ...introduction ? [paragraph(introduction)] : [],
    hasEffect ? effective(mine) : withoutEffect(mine),
  ];
}

function effective(keys: readonly KeyDescription[]): string {
  const rows = keys.map((key) => [
    code(key.key),
    key.type,
    code(key.default),
    code(key.flag),
    whatOf(key),
  ]);
  return table(["key", "type", "default", "flag", "what it says"], rows);
}

function withoutEffect(keys: readonly KeyDescription[]): string {
  const rows = keys.map((key) => [code(key.key), code(key.flag), whatOf(key)]);
  return table(["key", "flag", "what it is about"], rows);
}

function whatOf({ help, choices, aliases }: KeyDescription): string {
  const words = choices.filter((choice) => choice !== "").map(code).join(", ");
  const also = aliases.map(code).join(", ");
  return [help, ...words ? [`one of ${words}`] : [], ...also ? [`also ${also}`] : []].join("; ");
}
