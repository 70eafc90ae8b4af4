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

/** A configuration that cannot be used, with all that is wrong with it. */
export class ConfigError extends OtelaError {
  /** @param problems At least one. */
  constructor(readonly problems: readonly ConfigProblem[], message: string) {
    const [{ where, key }] = problems;
    super("config_invalid", message, { fields: { where, key, problems: problems.length } });
  }
}

/** All problems as one error, each with its place, on a line of its own when there are several. */
export function configError(problems: readonly ConfigProblem[]): ConfigError {
  const lines = problems.slice(0, problemsShownMax).map(lineOf);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  const text = lines.length === 1 ? ` ${lines[0]}` : ["", ...lines].join("\n  ");
  return new ConfigError(problems, `Cannot use the configuration:${text}`);
}

function lineOf({ where, key, message }: ConfigProblem): string {
  return key === "" ? `${where}: ${message}` : `${where}: "${key}" ${message}`;
}
