// How does a user begin?
import { dirname } from "node:path";
import { messageOf, OtelaError } from "../../lib/base/errors.ts";
import { newConfigFile } from "../../lib/config/new_file.ts";
import { disk } from "../../lib/identity/disk.ts";
import { FileError } from "../../lib/identity/file_system.ts";
import { loadOrCreateIdentity } from "../../lib/identity/identity_file.ts";
import { type Call, type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import type { CommandIo } from "../io.ts";
import { jsonLine } from "../json.ts";
import { configFileInUse, configFilePlaces, readNodeConfig } from "../node_config.ts";
import { columns } from "../table.ts";

/** `otela init`: the only command that writes a configuration. What is there stays as it is. */
export const initCommand: CommandSpec = {
  name: "init",
  summary: "Write a configuration file to fill in, and create this node's key",
  details: ["What is there already is kept, so it may be run again at any time."],
  options: [jsonOption],
  run: async (call, io) => {
    const { file, isNew } = await configFile(call, io);
    const { places } = readNodeConfig(call, io);
    const key = await loadOrCreateIdentity(places.keyFile);
    for (const warning of key.warnings) io.err(`otela: ${warning}`);
    const { peerId } = key.identity;
    if (call.flags.has("--json")) {
      const configured = { configFile: file, isConfigNew: isNew };
      io.out(jsonLine({ peerId, ...configured, keyFile: places.keyFile, isKeyNew: key.isNew }));
      return ExitCode.ok;
    }
    const rows = [
      ["config", file, isNew ? "written" : "kept as it was"],
      ["key", places.keyFile, key.isNew ? "created" : "kept as it was"],
      ["peer", peerId, ""],
    ];
    columns(rows).forEach(io.out);
    return ExitCode.ok;
  },
};

/** The file that is used from now on: one that is there, in the older place too, else a new one. */
async function configFile(call: Call, io: CommandIo): Promise<{ file: string; isNew: boolean }> {
  const places = configFilePlaces(call, io);
  const found = configFileInUse(places);
  if (found === undefined) return await writeNewFile(places[0]);
  if (found !== places[0]) {
    io.err(
      `otela: ${found} stays in use: a new ${places[0]} would hide it; move it there yourself`,
    );
  }
  return { file: found, isNew: false };
}

async function writeNewFile(file: string): Promise<{ file: string; isNew: boolean }> {
  try {
    await disk.makeDirectory(dirname(file));
    await disk.create(file, new TextEncoder().encode(newConfigFile));
    return { file, isNew: true };
  } catch (error) {
    const isThere = error instanceof FileError && error.failure === "exists" && error.path === file;
    if (isThere) return { file, isNew: false }; // Somebody was faster: theirs is kept.
    throw new OtelaError("state_unusable", `Cannot write "${file}": ${messageOf(error)}`);
  }
}
