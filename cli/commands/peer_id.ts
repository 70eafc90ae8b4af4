// By which name do others know this node?
import { OtelaError } from "../../lib/base/errors.ts";
import { loadIdentity } from "../../lib/identity/identity_file.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { jsonLine } from "../json.ts";
import { readNodeConfig } from "../node_config.ts";

/** `otela peer-id`: only reads; never creates a key. */
export const peerIdCommand: CommandSpec = {
  name: "peer-id",
  summary: "Print the PeerId of this user's node",
  options: [jsonOption],
  run: async (call, io) => {
    const { places } = readNodeConfig(call, io);
    const loaded = await loadIdentity(places.keyFile);
    if (!loaded) {
      const message = `There is no key in "${places.keyFile}": "otela init" creates one`;
      throw new OtelaError("state_unusable", message);
    }
    const { peerId, keyType } = loaded.identity;
    io.out(call.flags.has("--json") ? jsonLine({ peerId, keyType }) : peerId);
    return ExitCode.ok;
  },
};
