// Which version is this?
import project from "../../deno.json" with { type: "json" };
import type { VersionFacts } from "../../lib/config/thread_messages.ts";
import { type BuildWay, buildWay } from "../build_way.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";

/** What this build is. */
export const versionFacts: VersionFacts = {
  otela: project.version,
  deno: Deno.version.deno,
  target: Deno.build.target,
};

/** How it was built, where a person should know. */
const remarks: Record<BuildWay, string> = {
  source: ", from source",
  given: "",
  downloaded: "",
  offline: ", offline build",
};

/** `otela 0.1.0 (deno 2.9.6, x86_64-unknown-linux-gnu, from source)`. */
export function versionLine(): string {
  const { otela, deno, target } = versionFacts;
  return `otela ${otela} (deno ${deno}, ${target}${remarks[buildWay]})`;
}

/** `otela version` */
export const versionCommand: CommandSpec = {
  name: "version",
  summary: "Print the version",
  options: [jsonOption],
  run: (call, io) => {
    io.out(
      call.flags.has("--json")
        ? JSON.stringify({ ...versionFacts, build: buildWay })
        : versionLine(),
    );
    return Promise.resolve(ExitCode.ok);
  },
};
