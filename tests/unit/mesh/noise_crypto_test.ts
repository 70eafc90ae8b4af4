// Does our cipher agree with a second one, however a message is cut?
import { Buffer } from "node:buffer";
import { ok, throws } from "node:assert/strict";
import { pureJsCrypto } from "@libp2p/noise";
import { Uint8ArrayList } from "uint8arraylist";
import { checkNoiseCrypto, noiseCrypto } from "../../../lib/mesh/noise_crypto.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

const key = new Uint8Array(32).fill(1);
const nonce = new Uint8Array(12).fill(2);
const ad = new Uint8Array(0);

Deno.test("noiseCrypto equals pure JavaScript on messages of any length, cut anywhere", () => {
  const crypto = noiseCrypto();
  const random = seededRandom(1);
  for (const length of [0, 1, 63, 64, 65, 600, 1_183, 1_184, 1_199, 1_200, 1_201, 16_384, 65_519]) {
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
  }
});

Deno.test("noiseCrypto refuses a message that was changed, small or large", () => {
  const crypto = noiseCrypto();
  for (const length of [100, 5_000]) {
    const sealed = crypto.chaCha20Poly1305Encrypt(new Uint8Array(length), nonce, ad, key).subarray()
      .slice();
    sealed[3] ^= 1;
    throws(() => crypto.chaCha20Poly1305Decrypt(sealed, nonce, ad, key));
  }
});

Deno.test("checkNoiseCrypto passes ours and finds one that is wrong", () => {
  checkNoiseCrypto();
  const wrong = {
    ...noiseCrypto(),
    // What several updates did on Deno 2.7.11: the second buffer is encrypted with the wrong key stream.
    chaCha20Poly1305Encrypt: (plain: Uint8Array | Uint8ArrayList) => plain.subarray(),
  };
  throws(() => checkNoiseCrypto(wrong), /two ciphers must agree/);
});
