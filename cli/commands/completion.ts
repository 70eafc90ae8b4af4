// How does a shell learn to complete our command lines?
import { OtelaError } from "../../lib/base/errors.ts";
import { type CommandGroup, type CommandSpec, jsonOption } from "../command.ts";
import { bashCompletion } from "../completion/bash.ts";
import { completables } from "../completion/completable.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { placeOptions } from "../config_options.ts";
import { ExitCode } from "../exit_code.ts";
import { jsonLine } from "../json.ts";

const scripts = new Map([
  ["bash", bashCompletion],
  ["zsh", zshCompletion],
  ["fish", fishCompletion],
]);

/**
 * `otela completion bash`: prints, and changes no file of the user.
 * @param commands Every command, this one included.
 */
export const completionCommand = (
  commands: () => readonly (CommandSpec | CommandGroup)[],
): CommandSpec => ({
  name: "completion",
  summary: "Print a script that completes command lines in your shell",
  args: [{ name: "shell", help: "bash, zsh or fish", choices: [...scripts.keys()] }],
  options: [jsonOption],
  details: [
    "For every new shell: put the line of the example into ~/.bashrc, or with zsh into ~/.zshrc.",
    "fish reads the script from ~/.config/fish/completions/otela.fish.",
    "",
    "Examples:",
    "  source <(otela completion bash)",
  ],
  run: (call, io) => {
    const [shell] = call.args;
    const write = scripts.get(shell);
    if (!write) {
      const message = `unknown shell '${shell}': it must be ${[...scripts.keys()].join(", ")}`;
      throw new OtelaError("usage_invalid", message);
    }
    const script = write(completables(commands(), placeOptions));
    io.out(call.flags.has("--json") ? jsonLine({ shell, script }) : script.trimEnd());
    return Promise.resolve(ExitCode.ok);
  },
});
