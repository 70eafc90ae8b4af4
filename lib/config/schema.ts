// Which keys are there? The one table behind flags, environment, file, help and reference.
import { type ConfigKey, envNameOf, key } from "./key.ts";
import { laterKeys } from "./keys_later.ts";
import { meshKeys } from "./keys_mesh.ts";
import { nodeKeys } from "./keys_node.ts";
import { routingKeys } from "./keys_routing.ts";
import { serviceKeys } from "./keys_service.ts";

/** Every key of the original and of ours, in the order in which people read them. */
export const schema: readonly ConfigKey[] = [
  ...nodeKeys,
  ...routingKeys,
  ...meshKeys,
  ...serviceKeys,
  key("services", "services", [], "design §8", "Any number of services, each as under service.*"),
  ...laterKeys,
];

const byName = new Map(schema.flatMap((row) => [row.name, ...row.aliases].map((n) => [n, row])));
const byEnv = new Map(
  schema.flatMap((row) => [row.name, ...row.aliases].map((n) => [envNameOf(n), row])),
);
const sections = new Set(
  [...byName.keys()].flatMap((name) => {
    const parts = name.split(".");
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
  }),
);

/** The key of that name or alias, in any case, as the original has it; `undefined` when unknown. */
export function keyNamed(name: string): ConfigKey | undefined {
  return byName.get(name.toLowerCase());
}

/** The key that an environment variable sets; `undefined` when unknown. */
export function keyOfEnv(variable: string): ConfigKey | undefined {
  return byEnv.get(variable);
}

/** Whether keys begin with this name and a dot (`service`, `security.rate_limit`). */
export function isSection(name: string): boolean {
  return sections.has(name.toLowerCase());
}

/** All names and aliases of keys, and sections: what a mistyped name may have meant. */
export function namesInFile(): string[] {
  return [...byName].filter(([, row]) => row.isInFile).map(([name]) => name).concat([...sections]);
}

/** All names of environment variables that set a key. */
export function envNames(): string[] {
  return [...byEnv.keys()];
}
