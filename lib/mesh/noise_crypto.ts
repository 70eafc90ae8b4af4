// Which cipher code encrypts connections, fast and right on every Deno version?
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { ChaCha20Poly1305, newInstance } from "@chainsafe/as-chacha20poly1305";
import { type ICryptoInterface, pureJsCrypto } from "@libp2p/noise";
import { Uint8ArrayList } from "uint8arraylist";
import { ByteSlab } from "../base/byte_slab.ts";
import type { Bytes } from "../base/units.ts";

/** Below this WebAssembly is faster than the call into native code (measured at 100 and 600 bytes: 2 to 4 times). */
const nativeFromBytes: Bytes = 1_200;
const tagBytes: Bytes = 16;
const cipherName = "chacha20-poly1305";

type Message = Uint8Array | Uint8ArrayList;

/**
 * Noise's cipher with one `update()` per message: on Deno 2.7.11 several updates of lengths that are no multiple
 * of 64 give wrong bytes, and libp2p's default makes one update per buffer, which kills the connection at the
 * first message of 1,200 bytes.
 */
export function noiseCrypto(): ICryptoInterface {
  const small = new ChaCha20Poly1305(newInstance());
  const joined = new Uint8Array(nativeFromBytes);
  const slab = new ByteSlab();
  return {
    ...pureJsCrypto,
    hashSHA256: (data) => createHash("sha256").update(data.subarray()).digest(),
    chaCha20Poly1305Encrypt(plaintext, nonce, ad, key) {
      const { byteLength } = plaintext;
      if (byteLength < nativeFromBytes) {
        const bytes = joinInto(joined, plaintext);
        return small.seal(key, nonce, bytes, ad, slab.take(byteLength + tagBytes));
      }
      const bytes = plaintext.subarray();
      const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(ad, { plaintextLength: byteLength });
      const encrypted = cipher.update(bytes);
      cipher.final();
      // A list: joining would copy the whole message for the sake of the tag.
      return new Uint8ArrayList(encrypted, cipher.getAuthTag());
    },
    chaCha20Poly1305Decrypt(ciphertext, nonce, ad, key, target) {
      const bytes = ciphertext.subarray();
      if (bytes.byteLength < nativeFromBytes) {
        return openSmall(small, bytes, nonce, ad, key, target);
      }
      const plaintextLength = bytes.byteLength - tagBytes;
      const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(ad, { plaintextLength });
      decipher.setAuthTag(bytes.subarray(plaintextLength));
      const plaintext = decipher.update(bytes.subarray(0, plaintextLength));
      decipher.final();
      return plaintext;
    },
  };
}

/** @returns The message in one piece, valid until the next call. */
function joinInto(target: Uint8Array, message: Message): Uint8Array {
  if (message instanceof Uint8Array) return message;
  let at = 0;
  for (const piece of message) {
    target.set(piece, at);
    at += piece.byteLength;
  }
  return target.subarray(0, at);
}

function openSmall(
  cipher: ChaCha20Poly1305,
  sealed: Uint8Array,
  nonce: Uint8Array,
  ad: Uint8Array,
  key: Uint8Array,
  target: Uint8Array | undefined,
): Uint8Array {
  const plaintext = cipher.open(key, nonce, sealed, ad, target);
  if (plaintext) return plaintext;
  throw new Error("Cannot decrypt a message as its tag must match: it does not");
}

/**
 * Start-up check of the cipher on this runtime: 1,500 bytes in two buffers, split at 12 as a stream header and
 * its data are, against a second implementation in one shot. Costs under a millisecond.
 * @throws {Error} When they differ: no connection could live on this runtime.
 */
export function checkNoiseCrypto(crypto: ICryptoInterface = noiseCrypto()): void {
  const key = new Uint8Array(32).fill(7);
  const nonce = new Uint8Array(12).fill(9);
  const ad = new Uint8Array(0);
  for (const length of [600, 1_500]) {
    const plain = Uint8Array.from({ length }, (_, i) => i & 255);
    const split = (bytes: Uint8Array): Message =>
      new Uint8ArrayList(bytes.slice(0, 12), bytes.slice(12));
    const expected = pureJsCrypto.chaCha20Poly1305Encrypt(plain, nonce, ad, key).subarray();
    const sealed = crypto.chaCha20Poly1305Encrypt(split(plain), nonce, ad, key).subarray();
    const opened = crypto.chaCha20Poly1305Decrypt(split(expected), nonce, ad, key).subarray();
    if (!Buffer.from(sealed).equals(expected) || !Buffer.from(opened).equals(plain)) {
      throw new Error(
        `Cannot encrypt connections as two ciphers must agree on ${length} bytes: they differ`,
      );
    }
  }
}
