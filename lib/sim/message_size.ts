// How many bytes would a message have, had it been encoded?
import type { Bytes } from "../base/units.ts";
import type { ProbeMessage } from "../membership/probe_message.ts";
import type { Rumour } from "../membership/rumour.ts";

/** Around each message on a real connection: length 2, yamux 12, noise 2 + 16. */
export const envelopeBytes: Bytes = 32;
const rootBytes = 9;

/** Exactly what `encodeProbeMessage` makes, without making it. */
export function probeMessageBytes(message: ProbeMessage): Bytes {
  switch (message.type) {
    case "probe":
    case "ack": {
      const { seq, incarnation: { epoch, counter }, departed, rumours } = message;
      const accused = message.type === "probe" ? message.accused : undefined;
      const fixed = 2 + int(seq) + int(epoch) + int(counter) + rootBytes + int(departed);
      const told = rumours.length > 0 || accused ? rumourListBytes(rumours) : 0;
      return fixed + told + (accused ? int(accused.epoch) + int(accused.counter) : 0);
    }
    case "ask":
      return 2 + int(message.seq) + text(message.target);
    case "answer": {
      const { seq, incarnation } = message;
      return 2 + int(seq) + (incarnation ? int(incarnation.epoch) + int(incarnation.counter) : 0);
    }
    case "suspect": {
      const { target, incarnation: { epoch, counter }, silentMs } = message;
      return 2 + text(target) + int(epoch) + int(counter) + int(Math.round(silentMs));
    }
    case "compare":
      return 2 + int(message.buckets.length) +
        message.buckets.reduce((sum, one) => sum + int(one), 0);
    case "rumours":
      return 2 + rumourListBytes(message.rumours);
  }
}

/** Of a rumour inside a message; as a gossip message it has 2 more. */
export function rumourBytes({ subject, incarnation, signer, signature }: Rumour): Bytes {
  const by = signer === subject ? 1 : text(signer);
  const { epoch, counter } = incarnation;
  return 2 + text(subject) + int(epoch) + int(counter) + by + int(signature.length) +
    signature.length;
}

function rumourListBytes(rumours: readonly Rumour[]): Bytes {
  return rumours.reduce((sum, rumour) => sum + rumourBytes(rumour), int(rumours.length));
}

/** CBOR's head of an integer, a length or a list. */
function int(value: number): Bytes {
  if (value < 24) return 1;
  if (value < 2 ** 8) return 2;
  if (value < 2 ** 16) return 3;
  return value < 2 ** 32 ? 5 : 9;
}

function text(value: string): Bytes {
  return int(value.length) + value.length;
}
