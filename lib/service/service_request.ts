// Which service does an operator ask a running node to add?
import { OtelaError } from "../base/errors.ts";
import { buildServices } from "../config/build_services.ts";
import { decodeTree } from "../config/decode_tree.ts";
import { serviceKeys } from "../config/keys_service.ts";
import type { ServiceConfig } from "../config/node_config.ts";
import type { ConfigProblem } from "../config/problem.ts";
import { type Origin, Settings } from "../config/settings.ts";
import type { Tree } from "../config/yaml_tree.ts";

const where = "service";
/** A list, a service, one of its lists or maps, an entry of that. */
const depthMax = 4;

/**
 * A service from JSON, by the keys and rules of an entry of `services` in the configuration:
 * `{"name": "llm", "port": 8000}`. Paths must be absolute, and a key comes as itself: the node, which may read no
 * other files, does not know where the operator stands.
 * @param value Untrusted.
 * @throws {OtelaError} `bad_request`, naming everything that must change.
 */
export function parseServiceRequest(value: unknown): ServiceConfig {
  const fields = Object(value) as { socket?: unknown };
  const problems: ConfigProblem[] = [];
  if (typeof fields.socket === "string" && !fields.socket.startsWith("/")) {
    problems.push({ where, key: "service.socket", message: "must be an absolute path" });
  }
  const list = {
    type: "map" as const,
    where,
    entries: [{ name: "services", where, value: treeOf([value]) }],
  };
  const placed = decodeTree(list, { directory: "/", home: null }, problems).get("services");
  if (problems.length === 0 && placed) {
    const unset = serviceKeys.map((row): [string, Origin] => [
      row.name,
      { value: row.default, source: "default", where: row.source, directory: "/" },
    ]);
    const given: Origin = { ...placed, source: "flag", directory: "/" };
    const settings = new Settings(new Map([...unset, ["services", given]]));
    const [service] = buildServices(settings, refuseSecretFile(problems), problems);
    if (problems.length === 0 && service) return service;
  }
  const reasons = problems.map(({ key, message }) => `"${key}" ${message}`).join(", ");
  throw new OtelaError("bad_request", `Cannot add the service: ${reasons}`);
}

/**
 * JSON as the configuration reads it. The parser of YAML, which could read JSON too, asks for environment
 * variables that the node's thread does not have.
 */
function treeOf(value: unknown, depth = 0): Tree {
  if (value === null || value === undefined || depth > depthMax) return { type: "empty", where };
  if (Array.isArray(value)) {
    return { type: "list", where, items: value.map((item) => treeOf(item, depth + 1)) };
  }
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([name, child]) => ({
      name,
      where,
      value: treeOf(child, depth + 1),
    }));
    return { type: "map", where, entries };
  }
  return { type: "scalar", where, text: String(value), isBool: typeof value === "boolean" };
}

function refuseSecretFile(problems: ConfigProblem[]) {
  return (_path: string, key: string): undefined => {
    problems.push({ where, key, message: "must be sent as service.upstream_key" });
  };
}
