// Which version is this?
import project from "../../deno.json" with { type: "json" };
import type { VersionFacts } from "../../lib/config/thread_messages.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";

/** What this build is. */
export const versionFacts: VersionFacts = {
  otela: project.version,
  deno: Deno.version.deno,
  target: Deno.build.target,
};

/** `otela 0.1.0 (deno 2.9.6, x86_64-unknown-linux-gnu)`. */
export function versionLine(): string {
  return `otela ${versionFacts.otela} (deno ${versionFacts.deno}, ${versionFacts.target})`;
}

/** `otela version` */
export const versionCommand: CommandSpec = {
  name: "version",
  summary: "Print the version",
  options: [jsonOption],
  run: (call, io) => {
    io.out(call.flags.has("--json") ? JSON.stringify(versionFacts) : versionLine());
    return Promise.resolve(ExitCode.ok);
  },
};
