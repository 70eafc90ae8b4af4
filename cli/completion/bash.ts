// How does bash complete our command lines?
import { type Completable, valuedFlags } from "./completable.ts";

/**
 * A script for bash 4 and later. Where a flag wants a value that we do not know, bash offers files.
 * @param all Names consist of letters, digits, dots and dashes, so nothing is quoted.
 */
export function bashCompletion(all: readonly Completable[]): string {
  const paths = all.map(({ path }) => path.join(" ")).filter((path) => path !== "");
  return `# Completion of otela for bash. For this shell: source <(otela completion bash)
_otela() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command:+$command }$word" in
      ${paths.map((path) => `"${path}"`).join(" | ")}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$before" in
${valueCases(all)}
    *)
      case "$command" in
${all.map(commandCase).join("\n")}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _otela otela
`;
}

function commandCase({ path, words, options }: Completable): string {
  const all = [...words.map(({ text }) => text), ...options.map(({ flag }) => flag), "--help"];
  return `        "${path.join(" ")}") words="${all.join(" ")}" ;;`;
}

function valueCases(all: readonly Completable[]): string {
  const flags = valuedFlags(all);
  const free = flags.filter(({ choices }) => choices.length === 0).map(({ flag }) => flag);
  return [
    ...flags.filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => `    ${flag}) words="${choices.join(" ")}" ;;`),
    `    ${free.join(" | ")}) ;;`,
  ].join("\n");
}
