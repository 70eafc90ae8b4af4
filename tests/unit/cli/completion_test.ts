import { deepEqual, equal, match, ok } from "node:assert/strict";
import { runnableCommands } from "../../../cli/commands.ts";
import { runCommand } from "../../support/command_io.ts";

const { out: bashScript } = await runCommand(["completion", "bash"]);

/** What bash would offer for the last word of a line. */
async function offered(...words: string[]): Promise<string[]> {
  const program = `${bashScript.join("\n")}
    COMP_WORDS=(otela "$@")
    COMP_CWORD=$#
    _otela
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const bash = new Deno.Command("bash", { args: ["-c", program, "bash", ...words] });
  const { stdout, stderr } = await bash.output();
  equal(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
}

Deno.test("completion bash offers commands, then theirs, then flags, then values", async () => {
  deepEqual(await offered("st"), ["start", "status", "stop"]);
  deepEqual(await offered("service", ""), ["list", "add", "remove", "--help"]);
  deepEqual(await offered("start", "--service.po"), ["--service.port"]);
  deepEqual(await offered("start", "--port", "80", "--tcp"), ["--tcpport"]);
  deepEqual(await offered("start", "--role", ""), ["head", "worker", "relay"]);
  deepEqual(await offered("--instance", "two", "sta"), ["start", "status"]);
  deepEqual(await offered("completion", "z"), ["zsh"]);
  deepEqual(await offered("start", "--config", ""), []); // Bash offers files then.
  deepEqual(await offered("start", "--see"), []); // Without effect, so not offered.
});

Deno.test("completion knows every command in every shell", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, out } = await runCommand(["completion", shell]);
    equal(code, 0);
    const script = out.join("\n");
    for (const { path, spec } of runnableCommands()) {
      for (const word of path.split(" ")) ok(script.includes(word), `${word} in ${shell}`);
      for (const { flag, isHidden } of spec.options ?? []) {
        if (!isHidden) ok(script.includes(flag.slice(2)), `${flag} in ${shell}`);
      }
    }
  }
});

Deno.test("completion refuses a shell that it does not know", async () => {
  const { code, err } = await runCommand(["completion", "ksh"]);
  equal(code, 2);
  match(err[0], /unknown shell 'ksh': it must be bash, zsh, fish$/);
});
