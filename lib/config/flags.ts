// Which flags does the configuration put on the command line?
import { headingOf } from "./key_heading.ts";
import { isRepeatable } from "./layers.ts";
import { schema } from "./schema.ts";

/** One flag, for a command line parser. */
export type ConfigFlag = {
  /** `--public-addr`. */
  readonly flag: string;
  /** `public-addr`: its name in `FlagValues`. */
  readonly name: string;
  readonly key: string;
  /** `<port>`, or `[bool]` where the value may be left out; goes after the flag in help. */
  readonly placeholder: string;
  readonly isRepeatable: boolean;
  readonly choices: readonly string[] | null;
  readonly help: string;
  /** Under which help shows it. */
  readonly heading: string;
  /** Whether help should show it: it does something. */
  readonly isImplemented: boolean;
};

/** Every flag of the schema, in its order. */
export const configFlags: readonly ConfigFlag[] = schema.flatMap((row) => {
  if (row.flag === null) return [];
  return [{
    flag: row.flag,
    name: row.flag.slice(2),
    key: row.name,
    placeholder: row.kind === "bool" ? "[bool]" : `<${row.kind}>`,
    isRepeatable: isRepeatable(row),
    choices: row.choices,
    help: row.help,
    heading: headingOf(row),
    isImplemented: row.status === "implemented",
  }];
});
