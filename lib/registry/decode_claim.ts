// What may the document of a claim contain?
import { OtelaError } from "../base/errors.ts";
import { isPeerId } from "../base/peer_id.ts";
import type { Claim, EngineClaim, GpuClaim, HardwareClaim, Role, ServiceClaim } from "./claim.ts";

/** Bounds of a claim. Groups and depth are protocol §2; the others are guesses far above honest use. */
export const claimBounds = {
  identityGroupsMax: 256,
  depthMax: 6,
  addressesMax: 32,
  relaysMax: 32,
  servicesMax: 64,
  gpusMax: 64,
  labelsMax: 64,
  textLengthMax: 256,
} as const;

const serviceName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const identityGroup = /^(all|[^=\s]+=\S.*)$/;
// deno-lint-ignore no-control-regex -- Control characters would reach terminals and logs.
const controlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * A claim from plain values, checked against every bound, with only the fields we know.
 * Unknown fields are left out, so that later versions may add some.
 * @param value Strings, numbers, booleans, null, arrays and objects; untrusted.
 * @returns A deeply frozen claim.
 * @throws {OtelaError} `envelope_invalid` naming the first field that is out of its bounds.
 */
export function decodeClaim(value: unknown): Claim {
  if (isDeeper(value, claimBounds.depthMax)) {
    throw refused("document", `must nest at most ${claimBounds.depthMax} levels`);
  }
  const root = map(value, "claim");
  const services = list(root.services, "services", claimBounds.servicesMax).map(decodeService);
  const groupCount = services.reduce((sum, service) => sum + service.identityGroups.length, 0);
  if (groupCount > claimBounds.identityGroupsMax) {
    throw refused(
      "identityGroups",
      `must be at most ${claimBounds.identityGroupsMax} in all: got ${groupCount}`,
    );
  }
  if (new Set(services.map((service) => service.name)).size !== services.length) {
    throw refused("services", "must have different names");
  }
  return Object.freeze({
    role: oneOf<Role>(root.role, "role", ["head", "worker", "relay"]),
    addresses: texts(root.addresses, "addresses", claimBounds.addressesMax),
    relays: peers(root.relays),
    services: Object.freeze(services),
    hardware: decodeHardware(root.hardware),
    labels: record(root.labels, "labels"),
    wallet: text(root.wallet, "wallet"),
    versions: record(root.versions, "versions"),
  });
}

function decodeService(value: unknown): ServiceClaim {
  const service = map(value, "services");
  const name = text(service.name, "name");
  if (!serviceName.test(name)) throw refused("name", `must match ${serviceName.source}`);
  const groups = texts(service.identityGroups, "identityGroups", claimBounds.identityGroupsMax);
  if (!groups.every((group) => identityGroup.test(group))) {
    throw refused("identityGroups", 'must be "key=value", "key=*" or "all"');
  }
  return Object.freeze({
    name,
    identityGroups: groups,
    state: oneOf<"ready" | "draining">(service.state, "state", ["ready", "draining"]),
    engine: decodeEngine(service.engine),
    capacity: count(service.capacity, "capacity"),
    retry: oneOf<"safe" | "never">(service.retry, "retry", ["safe", "never"]),
  });
}

function decodeEngine(value: unknown): EngineClaim {
  const engine = map(value, "engine");
  if (typeof engine.continues !== "boolean") throw refused("continues", "must be a boolean");
  return Object.freeze({
    kind: text(engine.kind, "kind"),
    version: text(engine.version, "version"),
    continues: engine.continues,
  });
}

function decodeHardware(value: unknown): HardwareClaim {
  const hardware = map(value, "hardware");
  return Object.freeze({
    cpuCount: count(hardware.cpuCount, "cpuCount"),
    memoryMiB: count(hardware.memoryMiB, "memoryMiB"),
    gpus: Object.freeze(list(hardware.gpus, "gpus", claimBounds.gpusMax).map(decodeGpu)),
  });
}

function decodeGpu(value: unknown): GpuClaim {
  const gpu = map(value, "gpus");
  return Object.freeze({
    name: text(gpu.name, "name"),
    memoryTotalMiB: countOrNull(gpu.memoryTotalMiB, "memoryTotalMiB"),
    memoryUsedMiB: countOrNull(gpu.memoryUsedMiB, "memoryUsedMiB"),
  });
}

function peers(value: unknown): readonly string[] {
  const relays = texts(value, "relays", claimBounds.relaysMax);
  if (!relays.every((relay) => isPeerId(relay))) throw refused("relays", "must be PeerIds");
  return relays;
}

function texts(value: unknown, field: string, countMax: number): readonly string[] {
  return Object.freeze(list(value, field, countMax).map((item) => text(item, field)));
}

function record(value: unknown, field: string): Readonly<Record<string, string>> {
  const entries = Object.entries(map(value, field));
  if (entries.length > claimBounds.labelsMax) {
    throw refused(field, `must be at most ${claimBounds.labelsMax}: got ${entries.length}`);
  }
  // Automerge takes neither of these as a key.
  if (entries.some(([key]) => key === "" || key === "__proto__")) {
    throw refused(field, 'must have no empty key and no "__proto__"');
  }
  const checked = entries.map(([key, item]) => [text(key, field), text(item, field)] as const);
  return Object.freeze(Object.fromEntries(checked));
}

function map(value: unknown, field: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw refused(field, "must be a map");
}

function list(value: unknown, field: string, countMax: number): unknown[] {
  if (!Array.isArray(value)) throw refused(field, "must be a list");
  if (value.length > countMax) {
    throw refused(field, `must be at most ${countMax}: got ${value.length}`);
  }
  return value;
}

function text(value: unknown, field: string): string {
  if (typeof value !== "string") throw refused(field, "must be a text");
  if (value.length > claimBounds.textLengthMax || controlCharacter.test(value)) {
    throw refused(
      field,
      `must have at most ${claimBounds.textLengthMax} characters and no control characters`,
    );
  }
  if (!value.isWellFormed()) throw refused(field, "must be well-formed Unicode");
  return value;
}

function oneOf<T extends string>(value: unknown, field: string, allowed: readonly T[]): T {
  const found = allowed.find((word) => word === value);
  if (found === undefined) throw refused(field, `must be one of ${allowed.join(", ")}`);
  return found;
}

function count(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw refused(field, "must be a whole number, at least 0");
}

function countOrNull(value: unknown, field: string): number | null {
  return value === null ? null : count(value, field);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => isDeeper(child, levels - 1));
}

function refused(field: string, rule: string): OtelaError {
  return new OtelaError("envelope_invalid", `Cannot take a claim as its ${field} ${rule}`, {
    fields: { field },
  });
}
