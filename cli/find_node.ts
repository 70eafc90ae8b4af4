// Where does the running node of this user listen for commands?
import { hostname } from "node:os";
import { OtelaError } from "../lib/base/errors.ts";
import { readSocketPointer } from "../lib/identity/socket_place.ts";
import type { Call } from "./command.ts";
import type { CommandIo } from "./io.ts";
import { readNodeConfig } from "./node_config.ts";

/** A node that runs on this host, as far as its files tell. */
export type FoundNode = {
  readonly instance: string;
  /** Its operator door. */
  readonly socket: string;
  readonly pid: number;
};

/**
 * The node that the command line means.
 * @throws {OtelaError} `node_unreachable` when none has run here, or it runs on another host.
 */
export async function findNode(call: Call, io: CommandIo): Promise<FoundNode> {
  const { places } = readNodeConfig(call, io);
  const pointer = await readSocketPointer(places.socketPointerFile);
  if (!pointer) {
    throw new OtelaError(
      "node_unreachable",
      `No node runs as instance "${places.instance}": start one with "otela start"`,
    );
  }
  const here = hostname();
  if (pointer.host === here) {
    return { instance: places.instance, socket: pointer.socket, pid: pointer.pid };
  }
  throw new OtelaError(
    "node_unreachable",
    `The node runs on ${pointer.host}, and its commands work only there: this is ${here}`,
  );
}
