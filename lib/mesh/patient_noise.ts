// How does noise wait for the rest of a message without an exception?
import type { MessageStream } from "@libp2p/interface";
import { noise } from "@libp2p/noise";
import { assert } from "../base/assert.ts";
import type { Bytes } from "../base/units.ts";

type NoiseInit = NonNullable<Parameters<typeof noise>[0]>;

/** The bytes of a message's length that have arrived, or more. */
type LengthBytes = { readonly byteLength: Bytes };
type LengthDecoder = (bytes: LengthBytes) => Bytes;

/** The member of an encrypted connection that reads lengths; private in its types, so asserted below. */
type Decoding = { readonly decoder?: { lengthDecoder?: LengthDecoder } };

const lengthBytes: Bytes = 2;
/** The longest message there is: more than has arrived when not even the length has. */
const notYet: Bytes = 65_535;

/**
 * libp2p's noise looks for another message until the decoder of lengths throws, so each read costs an exception
 * with its stack: 3 µs on a busy node, 20 on one that was asleep. Here the decoder says of a length that has not
 * arrived that it is larger than what has.
 */
export function patientNoise(init: NoiseInit): ReturnType<typeof noise> {
  const create = noise(init);
  return (components) => {
    const encrypter = create(components);
    // Bound before they are replaced: they keep their state in the encrypter.
    const { secureInbound, secureOutbound } = encrypter;
    encrypter.secureInbound = async (connection, options) => {
      const secured = await secureInbound.call(encrypter, connection, options);
      makePatient(secured.connection);
      return secured;
    };
    encrypter.secureOutbound = async (connection, options) => {
      const secured = await secureOutbound.call(encrypter, connection, options);
      makePatient(secured.connection);
      return secured;
    };
    return encrypter;
  };
}

function makePatient(connection: MessageStream): void {
  const { decoder } = connection as unknown as Decoding;
  const decode = decoder?.lengthDecoder;
  assert(decoder !== undefined && decode !== undefined, "noise has a decoder of lengths");
  decoder.lengthDecoder = (bytes) => bytes.byteLength < lengthBytes ? notYet : decode(bytes);
}
