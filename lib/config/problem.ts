// How do we tell a person what is wrong with the configuration?
import { OtelaError } from "../base/errors.ts";

/** One thing that must be changed before the node may start. */
export type ConfigProblem = {
  /** `cfg.yaml:8:3`, `OF_PORT` or `--port`. */
  readonly where: string;
  /** The key as the person wrote it; empty when the whole file is meant. */
  readonly key: string;
  /** What must hold and what holds now. */
  readonly message: string;
};

/** A hundred mistakes have one cause, and nobody reads them: guess. */
const problemsShownMax = 20;

/** All problems as one error, each with its place, on a line of its own when there are several. */
export function configError(problems: readonly ConfigProblem[]): OtelaError {
  const lines = problems.slice(0, problemsShownMax).map(lineOf);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  const text = lines.length === 1 ? lines[0] : ["", ...lines].join("\n  ");
  const [first] = problems;
  return new OtelaError("config_invalid", `Cannot use the configuration: ${text}`, {
    fields: { where: first.where, key: first.key, problems: problems.length },
  });
}

function lineOf({ where, key, message }: ConfigProblem): string {
  return key === "" ? `${where}: ${message}` : `${where}: "${key}" ${message}`;
}
