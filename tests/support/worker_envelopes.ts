// What do hundreds of real workers say of themselves?
import { encodeEnvelope } from "../../lib/registry/envelope.ts";
import { OwnDocument } from "../../lib/registry/own_document.ts";
import { claimOf } from "./registry_node.ts";
import { envelopeNamed } from "./registry_keys.ts";

export const anyOrigin = { host: "host", uptimeMs: 0 };

const gpus = Array.from({ length: 4 }, () => ({
  name: "NVIDIA GH200 120GB",
  memoryTotalMiB: 97_871,
  memoryUsedMiB: 5,
}));

/** Signed claims as large as those of real workers with four GPUs, whose addresses answer nobody. */
export function* workerEnvelopes(count: number, network: string): Generator<Uint8Array> {
  for (let at = 0; at < count; at++) {
    const claim = claimOf({
      hardware: { cpuCount: 72, memoryMiB: 870_000, gpus },
      labels: { cluster: "alps", node: `nid${String(at).padStart(6, "0")}`, job: String(at % 40) },
      addresses: [`/ip4/127.28.${at >> 8}.${at & 255}/tcp/4001`, "/ip6/::1/tcp/1"],
    });
    const document = new OwnDocument(claim, anyOrigin, "ab".repeat(16));
    yield encodeEnvelope(
      envelopeNamed(`owner ${at}`, { document: document.save(), network }),
    );
    document.end();
  }
}
