// How does a node take its place in the mesh?
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import { peerIdFromPrivateKey } from "@libp2p/peer-id";
import { messageOf, OtelaError } from "../base/errors.ts";
import { parsePeerId, type PeerId } from "../base/peer_id.ts";
import { admitTag } from "./admit.ts";
import { Admission } from "./admission.ts";
import { createHost } from "./host.ts";
import { connectionsMax } from "./host_limits.ts";
import { Libp2pMesh } from "./libp2p_mesh.ts";
import { meshCounters } from "./mesh_counters.ts";
import { meshProtocols } from "./mesh_protocols.ts";
import { checkNoiseCrypto, noiseCrypto } from "./noise_crypto.ts";
import type { Mesh, MeshOptions } from "./types.ts";

/**
 * Listens and begins to look for the network; does not wait for it (`joined`).
 * @throws {OtelaError} `port_busy` when an address cannot be listened on, `identity_damaged` for a bad key.
 */
export async function startMesh(options: MeshOptions): Promise<Mesh> {
  const { network, secret, log } = options;
  const self = peerIdOfKey(options.privateKeyProtobuf);
  const protocols = meshProtocols(network);
  const counters = meshCounters();
  const denied = new Set<string>(options.deny);
  const admission = new Admission({
    protocol: protocols.admit,
    self,
    tagOf: (peer) => admitTag(secret, network, peer),
    counters,
    log,
    admitted: (connection, peer) => mesh.admitted(connection, peer),
  });
  const crypto = await noiseCrypto();
  checkNoiseCrypto(crypto);
  const host = await createHost({
    privateKeyProtobuf: options.privateKeyProtobuf,
    role: options.role,
    protocols,
    crypto,
    listen: options.listen,
    connectionsMax: options.connectionsMax ?? connectionsMax(options.role),
    gate: admission,
    isDenied: (peer) => {
      if (denied.has(peer)) counters.add("refused_denied");
      return denied.has(peer);
    },
  });
  const mesh = new Libp2pMesh({ options, self, host, admission, protocols, counters });
  try {
    await mesh.start();
  } catch (error) {
    await mesh.close();
    throw new OtelaError(
      "port_busy",
      `Cannot listen on ${options.listen.join(", ")} as all must be free: ${messageOf(error)}`,
      { cause: error },
    );
  }
  return mesh;
}

/** The PeerId of a private key. */
function peerIdOfKey(privateKeyProtobuf: Uint8Array): PeerId {
  try {
    return parsePeerId(peerIdFromPrivateKey(privateKeyFromProtobuf(privateKeyProtobuf)).toString());
  } catch (error) {
    throw new OtelaError(
      "identity_damaged",
      `Cannot use the node's key as it must be an Ed25519 or RSA key: ${messageOf(error)}`,
    );
  }
}
