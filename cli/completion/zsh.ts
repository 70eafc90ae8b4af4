// How does zsh complete our command lines?
import { type Completable, valuedFlags } from "./completable.ts";

/** A script for zsh 5, to be sourced or put into a folder of `fpath` as `_otela`. */
export function zshCompletion(all: readonly Completable[]): string {
  const paths = all.map(({ path }) => path.join(" ")).filter((path) => path !== "");
  return `#compdef otela
# Completion of otela for zsh. For this shell: source <(otela completion zsh)
_otela() {
  local command="" word
  local -a candidates flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${command:+$command }$word" in
      ${paths.map((path) => `"${path}"`).join(" | ")}) command="\${command:+$command }$word" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
${valueCases(all)}
  esac
  case "$command" in
${all.map(commandCase).join("\n")}
  esac
  _describe -t words word candidates
  _describe -o flag flags
}
compdef _otela otela
`;
}

function commandCase({ path, words, options }: Completable): string {
  const candidates = words.map(({ text, help }) => quoted(text, help));
  const flags = [...options.map(({ flag, help }) => quoted(flag, help)), "'--help:Explain it'"];
  return `    "${path.join(" ")}")
      candidates=(${candidates.join(" ")})
      flags=(${flags.join(" ")}) ;;`;
}

/** `name:help` between single quotes. */
function quoted(text: string, help: string): string {
  return `'${text.replaceAll(":", "\\:")}:${help.replaceAll("'", "'\\''")}'`;
}

function valueCases(all: readonly Completable[]): string {
  const flags = valuedFlags(all);
  const free = flags.filter(({ choices }) => choices.length === 0).map(({ flag }) => flag);
  return [
    ...flags.filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => `    ${flag}) compadd -- ${choices.join(" ")}; return ;;`),
    `    ${free.join(" | ")}) _files; return ;;`,
  ].join("\n");
}
