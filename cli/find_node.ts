// Where does the running node of this user listen for commands?
import { hostname } from "node:os";
import { OtelaError } from "../lib/base/errors.ts";
import { readSocketPointer } from "../lib/identity/socket_place.ts";
import type { Call } from "./command.ts";
import type { CommandIo } from "./io.ts";
import { readNodeConfig } from "./node_config.ts";

/**
 * The socket of the operator door of the node that the command line means.
 * @throws {OtelaError} `node_unreachable` when none has run here, or it runs on another host.
 */
export async function findNode(call: Call, io: CommandIo): Promise<string> {
  const { places } = readNodeConfig(call, io);
  const pointer = await readSocketPointer(places.socketPointerFile);
  if (!pointer) {
    throw new OtelaError(
      "node_unreachable",
      `No node runs as instance "${places.instance}": start one with "otela start"`,
    );
  }
  const here = hostname();
  if (pointer.host === here) return pointer.socket;
  throw new OtelaError(
    "node_unreachable",
    `The node runs on ${pointer.host}, and its commands work only there: this is ${here}`,
  );
}
