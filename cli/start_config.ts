// Could a node start with what this command line says?
import { messageOf } from "../lib/base/errors.ts";
import { ClientKeys, clientKeysFileBytesMax } from "../lib/access/client_keys.ts";
import { configError } from "../lib/config/problem.ts";
import { readConfigFile } from "../lib/config/read_file.ts";
import type { Call } from "./command.ts";
import type { CommandIo } from "./io.ts";
import { type MeantNode, readNodeConfig } from "./node_config.ts";

/**
 * The configuration of a node that is to start, with the files that it names looked at too.
 * @throws {OtelaError} `config_invalid`
 */
export function readStartConfig(call: Call, io: CommandIo): MeantNode {
  const meant = readNodeConfig(call, io);
  const file = meant.config.doors.clientKeysFile;
  if (file !== null) checkClientKeys(file, meant.origins.get("client.keys")!.where);
  return meant;
}

function checkClientKeys(file: string, where: string): void {
  const problem = (message: string) => configError([{ where, key: "client.keys", message }]);
  let bytes: Uint8Array | undefined;
  try {
    bytes = readConfigFile(file, clientKeysFileBytesMax);
  } catch (error) {
    throw problem(`must name a readable file: "${file}" gives ${messageOf(error)}`);
  }
  if (!bytes) throw problem(`must name a file that exists: "${file}" does not`);
  try {
    ClientKeys.parse(new TextDecoder().decode(bytes), file);
  } catch (error) {
    throw problem(`must name a file of hashes: ${messageOf(error)}`);
  }
}
