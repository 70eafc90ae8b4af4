// How do tests start nodes of a mesh on loopback?
import { generateKeyPairSync } from "node:crypto";
import { silentLog } from "../../lib/base/ports.ts";
import { startMesh } from "../../lib/mesh/mesh.ts";
import type { Mesh, MeshOptions } from "../../lib/mesh/types.ts";

/** A new Ed25519 key as libp2p's protobuf: type 1, then seed and public key. */
export function newPrivateKey(): Uint8Array {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ type: "pkcs8", format: "der" }).subarray(-32);
  const point = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  return Uint8Array.from([8, 1, 18, 64, ...seed, ...point]);
}

/** Options of a head of an open network on 127.0.0.1 that looks for nobody. */
export function meshOptions(options: Partial<MeshOptions> = {}): MeshOptions {
  return {
    network: "test",
    secret: undefined,
    privateKeyProtobuf: newPrivateKey(),
    role: "head",
    listen: ["/ip4/127.0.0.1/tcp/0"],
    announce: [],
    bootstrap: [],
    deny: [],
    clock: { nowMs: () => performance.now() },
    random: Math.random,
    log: silentLog,
    ...options,
  };
}

/** Starts meshes, runs the body and closes them, in reverse. */
export async function withMeshes(
  options: readonly Partial<MeshOptions>[],
  body: (meshes: Mesh[]) => Promise<void>,
): Promise<void> {
  const meshes: Mesh[] = [];
  try {
    for (const each of options) meshes.push(await startMesh(meshOptions(each)));
    await body(meshes);
  } finally {
    await Promise.all(meshes.reverse().map((mesh) => mesh.close()));
  }
}

/**
 * A test with real hosts. Without the sanitizers: libp2p leaves some timers of a second behind when it stops, and
 * its peer store a BroadcastChannel, which Deno 2.7 reports.
 */
export function meshTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}
