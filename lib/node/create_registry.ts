// How does a node's registry know its keys, its mesh and its bounds?
import { randomBytes } from "node:crypto";
import { OtelaError } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import { secondMs } from "../base/units.ts";
import { nextEpoch } from "../identity/epoch_file.ts";
import { peerIdOfPublicKey, verifySignature } from "../identity/public_key.ts";
import { admitTag } from "../mesh/admit.ts";
import type { DuplicateHosts } from "../registry/effects.ts";
import { Registry } from "../registry/registry.ts";
import type { NodePartsOptions } from "./parts.ts";

/** Protocol §1: caps of an open mesh; a closed one trusts its members' number. */
const claimsMax = 10_000;
const newOwnersPerMinuteMax = 50;
/** Protocol §2. */
const runBytes = 16;

/** The registry of a node, with the checks that need keys and secrets. */
export function createRegistry(
  options: NodePartsOptions,
  { clock }: { clock: Clock },
): Registry {
  const { config, identity, places } = options;
  const { name: network } = config.network;
  const secret = config.network.secret ?? undefined;
  const deny = new Set(config.mesh.deny);
  const { leaseMs, leaseEphemeralMs } = config.registry;
  const isOpen = secret === undefined;
  return new Registry({
    own: {
      identity: {
        network,
        owner: identity.peerId,
        publicKey: identity.publicKeyProtobuf,
        run: randomBytes(runBytes).toString("hex"),
        admit: admitTag(secret, network, identity.peerId),
        host: Deno.hostname(),
        sign: (message) => identity.sign(message),
      },
      epoch: options.epoch,
      leaseS: Math.round((places.isEphemeral ? leaseEphemeralMs : leaseMs) / secondMs),
      random: Math.random,
      startedAtMs: clock.nowMs(),
    },
    ports: {
      deriveOwner: peerIdOfPublicKey,
      verify: verifySignature,
      isAdmitted: (owner, admit) => equal(admit, admitTag(secret, network, owner)),
      isDenied: (owner, wallet) => deny.has(owner) || (wallet !== "" && deny.has(wallet)),
    },
    claimsMax,
    newOwnersPerMinuteMax: isOpen ? newOwnersPerMinuteMax : Infinity,
  });
}

/** The error of a process that gives way to another one with its key. */
export function duplicateError({ ownHost, otherHost }: DuplicateHosts): OtelaError {
  return new OtelaError(
    "identity_duplicate",
    `Cannot go on as this node's key must be used once: another process uses it on "${otherHost}", ` +
      `this one runs on "${ownHost}"`,
  );
}

/** Tags are short and public between members; a whole comparison costs nothing. */
function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= a[at] ^ (b[at] ?? 0);
  return difference === 0;
}

/** Keeps an epoch that is used from now on. @throws {OtelaError} `state_unusable`. */
export async function storeEpoch(file: string, epoch: number): Promise<void> {
  await nextEpoch(file, epoch - 1, { nowMs: () => Date.now() });
}
