// Which cipher code encrypts connections, fast and right on every Deno version?
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { type ICryptoInterface, pureJsCrypto } from "@libp2p/noise";
import { Uint8ArrayList } from "uint8arraylist";
import { ByteSlab } from "../base/byte_slab.ts";
import { isBefore29 } from "../base/deno_version.ts";
import type { Bytes } from "../base/units.ts";
import { SodiumCipher, tagBytes } from "./sodium_cipher.ts";

/** From here on native code is faster on Deno 2.9 in spite of its call: 12 µs for 4,000 bytes, libsodium 16; 11.6 and 8.5 for 2,400. */
const nativeFromBytes: Bytes = 2_800;
const cipherName = "chacha20-poly1305";

type Message = Uint8Array | Uint8ArrayList;

/**
 * Noise's cipher: libsodium for all but long messages, and for those too on Deno 2.7.11. There native code is slower
 * at any length (560 µs for 65,000 bytes, libsodium 235), and several updates of lengths that are no multiple of 64 give
 * wrong bytes; libp2p's default makes one update per buffer, which kills the connection at the first message of
 * 1,200 bytes.
 */
export async function noiseCrypto(
  isNativeSlow: boolean = isBefore29(Deno.version.deno),
): Promise<ICryptoInterface> {
  const sodium = await SodiumCipher.load();
  const slab = new ByteSlab();
  const nativeFrom = isNativeSlow ? Infinity : nativeFromBytes;
  return {
    ...pureJsCrypto,
    hashSHA256: (data) => createHash("sha256").update(data.subarray()).digest(),
    chaCha20Poly1305Encrypt(plaintext, nonce, ad, key) {
      if (plaintext.byteLength >= nativeFrom) return sealNatively(plaintext, nonce, ad, key);
      const sealed = slab.take(plaintext.byteLength + tagBytes);
      sodium.seal(key, nonce, ad, plaintext, sealed);
      return sealed;
    },
    chaCha20Poly1305Decrypt(ciphertext, nonce, ad, key, target) {
      const plaintextBytes = ciphertext.byteLength - tagBytes;
      if (plaintextBytes < 0) throw new Error("Cannot decrypt a message as it must have a tag");
      if (plaintextBytes >= nativeFrom) return openNatively(ciphertext, nonce, ad, key);
      const plaintext = target ?? slab.take(plaintextBytes);
      if (sodium.open(key, nonce, ad, ciphertext, plaintext)) return plaintext;
      throw new Error("Cannot decrypt a message as its tag must match: it does not");
    },
  };
}

function sealNatively(
  plaintext: Message,
  nonce: Uint8Array,
  ad: Uint8Array,
  key: Uint8Array,
): Uint8ArrayList {
  const bytes = plaintext.subarray();
  const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(ad, { plaintextLength: bytes.byteLength });
  const encrypted = cipher.update(bytes);
  cipher.final();
  // A list: joining would copy the whole message for the sake of the tag.
  return new Uint8ArrayList(encrypted, cipher.getAuthTag());
}

function openNatively(
  ciphertext: Message,
  nonce: Uint8Array,
  ad: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  const bytes = ciphertext.subarray();
  const plaintextLength = bytes.byteLength - tagBytes;
  const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(ad, { plaintextLength });
  decipher.setAuthTag(bytes.subarray(plaintextLength));
  const plaintext = decipher.update(bytes.subarray(0, plaintextLength));
  decipher.final();
  return plaintext;
}

/**
 * Start-up check of the cipher on this runtime: 4,000 bytes in two buffers, split at 12 as a stream header and
 * its data are, against a second implementation in one shot. Costs under a millisecond.
 * @throws {Error} When they differ: no connection could live on this runtime.
 */
export function checkNoiseCrypto(crypto: ICryptoInterface): void {
  const key = new Uint8Array(32).fill(7);
  const nonce = new Uint8Array(12).fill(9);
  const ad = new Uint8Array(0);
  for (const length of [600, 4_000]) {
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
