// Does our cipher agree with a second one, however a message is cut?
import { Buffer } from "node:buffer";
import { ok, throws } from "node:assert/strict";
import { type ICryptoInterface, pureJsCrypto } from "@libp2p/noise";
import { Uint8ArrayList } from "uint8arraylist";
import { checkNoiseCrypto, noiseCrypto } from "../../../lib/mesh/noise_crypto.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

const key = new Uint8Array(32).fill(1);
const nonce = new Uint8Array(12).fill(2);
const ad = new Uint8Array(0);

/** Two ciphers, one of them for long messages; and one alone, as on Deno 2.7.11. */
const settings = [false, true];

Deno.test("noiseCrypto equals pure JavaScript on messages of any length, cut anywhere", async () => {
  for (const isNativeSlow of settings) {
    const crypto = await noiseCrypto(isNativeSlow);
    const random = seededRandom(1);
    for (const length of lengths) equalsPure(crypto, length, random);
  }
});

const lengths = [0, 1, 63, 64, 65, 600, 1_500, 2_783, 2_784, 2_799, 2_800, 2_801, 16_384, 65_519];

function equalsPure(crypto: ICryptoInterface, length: number, random: () => number): void {
  for (const ad of [new Uint8Array(0), new Uint8Array(32).fill(5)]) {
    const plain = Uint8Array.from({ length }, () => random() * 256);
    const cut = (bytes: Uint8Array) => {
      const at = Math.floor(random() * bytes.byteLength);
      return new Uint8ArrayList(bytes.slice(0, at), bytes.slice(at));
    };
    const sealed = pureJsCrypto.chaCha20Poly1305Encrypt(plain, nonce, ad, key).subarray();
    for (const message of [plain, cut(plain)]) {
      const is = crypto.chaCha20Poly1305Encrypt(message, nonce, ad, key).subarray();
      ok(Buffer.from(is).equals(sealed), `${length} bytes sealed`);
    }
    for (const message of [sealed.slice(), cut(sealed)]) {
      const target = message.subarray().slice(0, length);
      const is = crypto.chaCha20Poly1305Decrypt(message, nonce, ad, key, target).subarray();
      ok(Buffer.from(is).equals(plain), `${length} bytes opened`);
    }
    // As libp2p does it: into the memory of what is decrypted.
    const own = sealed.slice();
    const into = own.subarray(0, length);
    const is = crypto.chaCha20Poly1305Decrypt(own, nonce, ad, key, into).subarray();
    ok(Buffer.from(is).equals(plain), `${length} bytes opened in their place`);
  }
}

Deno.test("noiseCrypto refuses a message that was changed or is none, small or large", async () => {
  for (const isNativeSlow of settings) {
    const crypto = await noiseCrypto(isNativeSlow);
    const open = (sealed: Uint8Array) => crypto.chaCha20Poly1305Decrypt(sealed, nonce, ad, key);
    for (const length of [0, 100, 5_000]) {
      const plain = new Uint8Array(length);
      const sealed = crypto.chaCha20Poly1305Encrypt(plain, nonce, ad, key).subarray().slice();
      ok(Buffer.from(open(sealed.slice()).subarray()).equals(plain));
      for (const at of [0, sealed.length - 1]) {
        const changed = sealed.slice();
        changed[at] ^= 1;
        throws(() => open(changed));
      }
    }
    throws(() => open(new Uint8Array(15)), /must have a tag/);
  }
});

Deno.test("noiseCrypto gives each message memory of its own", async () => {
  const crypto = await noiseCrypto();
  const seal = (fill: number) =>
    crypto.chaCha20Poly1305Encrypt(new Uint8Array(300).fill(fill), nonce, ad, key).subarray();
  const sealed = Array.from({ length: 200 }, (_, i) => seal(i));
  for (const [i, message] of sealed.entries()) {
    const opened = crypto.chaCha20Poly1305Decrypt(message, nonce, ad, key).subarray();
    ok(opened.every((byte) => byte === i), `message ${i} is as it was sealed`);
  }
});

Deno.test("checkNoiseCrypto passes ours and finds one that is wrong", async () => {
  const ours = await noiseCrypto();
  checkNoiseCrypto(ours);
  const wrong = {
    ...ours,
    // What several updates did on Deno 2.7.11: the second buffer is encrypted with the wrong key stream.
    chaCha20Poly1305Encrypt: (plain: Uint8Array | Uint8ArrayList) => plain.subarray(),
  };
  throws(() => checkNoiseCrypto(wrong), /two ciphers must agree/);
});
