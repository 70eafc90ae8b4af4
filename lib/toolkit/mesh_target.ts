// Which service of the mesh does an address of a program mean?
import { OtelaError } from "../base/errors.ts";
import { matchTarget } from "../gateway/endpoint.ts";
import { rawTarget } from "../gateway/raw_target.ts";
import type { ForwardTarget } from "../gateway/target.ts";

const shape = /^(service:[^/?]*|peer:([^/?]*)\/([^/?]*))(.*)$/is;

/**
 * Reads `service:NAME/PATH` (any peer that matches) and `peer:PEERID/NAME/PATH` (that one). The path goes to the
 * engine byte for byte, by the rules of the client door.
 * @param address Taken as it is: nothing in it is decoded or resolved.
 * @throws {OtelaError} `bad_request`, `bad_peer_id`.
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * const target = parseMeshTarget("GET", "service:llm/v1/models?limit=1");
 * equal(target.service, "llm");
 * equal(target.path, "/v1/models?limit=1");
 * ```
 */
export function parseMeshTarget(method: string, address: string): ForwardTarget {
  const [, prefix, peer, service, rest] = shape.exec(address) ?? [];
  if (prefix === undefined) throw unreadable(address);
  // The client door's own reading, so that there is one set of rules.
  const doorPath = peer === undefined
    ? `/v1/service/${prefix.slice("service:".length)}${rest}`
    : `/v1/p2p-service/${peer}/${service}${rest}`;
  const target = matchTarget(method, rawTarget(`http://mesh${doorPath}`), "");
  if (!target) throw unreadable(address);
  // A redirect leads to an address that can be called the same way.
  return { ...target, publicPrefix: prefix };
}

function unreadable(address: string): OtelaError {
  return new OtelaError(
    "bad_request",
    `Cannot call "${
      address.slice(0, 100)
    }" as it must be service:NAME/PATH or peer:PEERID/NAME/PATH`,
  );
}
