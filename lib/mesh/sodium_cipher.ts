// How is a message of a connection encrypted without an allocation in C or JavaScript?
import loadLibsodium from "libsodium";
import type { Uint8ArrayList } from "uint8arraylist";
import { assert } from "../base/assert.ts";
import { type Bytes, KiB } from "../base/units.ts";

const keyBytes: Bytes = 32;
const nonceBytes: Bytes = 12;
/** What ChaCha20-Poly1305 adds to a message (RFC 8439). */
export const tagBytes: Bytes = 16;
/** A noise message is shorter, tag included. */
const messageBytesMax: Bytes = 64 * KiB;
/** Noise authenticates a hash of 32 bytes in its handshake, and nothing later. */
const adBytesMax: Bytes = 64;

/** The members of libsodium that are used, as compiled: addresses are numbers, and lengths are two halves. */
type Libsodium = {
  readonly HEAPU8: Uint8Array;
  _sodium_init(): number;
  _malloc(bytes: Bytes): number;
  readonly _crypto_aead_chacha20poly1305_ietf_encrypt: Aead;
  readonly _crypto_aead_chacha20poly1305_ietf_decrypt: Aead;
};

/** As in libsodium's documentation of `crypto_aead_chacha20poly1305_ietf`. @returns 0 when all was right. */
type Aead = (...args: number[]) => number;

type Message = Uint8Array | Uint8ArrayList;

let loaded: Promise<SodiumCipher> | undefined;

/** ChaCha20-Poly1305 by libsodium in WebAssembly, in buffers that it keeps: for one message at a time. */
export class SodiumCipher {
  private readonly heap: Uint8Array;
  private readonly encrypt: Aead;
  private readonly decrypt: Aead;
  private readonly key: number;
  private readonly nonce: number;
  private readonly ad: number;
  private readonly input: number;
  private readonly output: number;

  private constructor(sodium: Libsodium) {
    this.encrypt = sodium._crypto_aead_chacha20poly1305_ietf_encrypt;
    this.decrypt = sodium._crypto_aead_chacha20poly1305_ietf_decrypt;
    this.key = sodium._malloc(keyBytes);
    this.nonce = sodium._malloc(nonceBytes);
    this.ad = sodium._malloc(adBytesMax);
    this.input = sodium._malloc(messageBytesMax);
    this.output = sodium._malloc(messageBytesMax + tagBytes);
    // After the last allocation: memory that grows is another array.
    this.heap = sodium.HEAPU8;
  }

  /** One for all nodes of a process: loading takes some 25 ms and 4 MiB of addresses. */
  static load(): Promise<SodiumCipher> {
    return loaded ??= SodiumCipher.loadNew();
  }

  private static async loadNew(): Promise<SodiumCipher> {
    const randomWord = () => crypto.getRandomValues(new Uint32Array(1))[0];
    const load = loadLibsodium as unknown as (imports: object) => Promise<Libsodium>;
    const sodium = await load({ getRandomValue: randomWord });
    assert(sodium._sodium_init() >= 0, "libsodium starts");
    return new SodiumCipher(sodium);
  }

  /** @param target Takes the ciphertext and its tag: `tagBytes` longer than the plaintext. */
  seal(
    key: Uint8Array,
    nonce: Uint8Array,
    ad: Uint8Array,
    plaintext: Message,
    target: Uint8Array,
  ): void {
    const { byteLength } = plaintext;
    const { input, output } = this;
    assert(target.length === byteLength + tagBytes, "a tag has its place");
    this.prepare(key, nonce, ad, plaintext);
    this.encrypt(output, 0, input, byteLength, 0, this.ad, ad.length, 0, 0, this.nonce, this.key);
    target.set(this.heap.subarray(output, output + target.length));
  }

  /**
   * @param target Takes the plaintext; may be the memory of the ciphertext.
   * @returns Whether the tag was right; the target is as it was when not.
   */
  open(
    key: Uint8Array,
    nonce: Uint8Array,
    ad: Uint8Array,
    ciphertext: Message,
    target: Uint8Array,
  ): boolean {
    const { byteLength } = ciphertext;
    const { input, output } = this;
    assert(target.length === byteLength - tagBytes, "a plaintext has its place");
    this.prepare(key, nonce, ad, ciphertext);
    if (
      this.decrypt(output, 0, 0, input, byteLength, 0, this.ad, ad.length, 0, this.nonce, this.key)
    ) return false;
    target.set(this.heap.subarray(output, output + target.length));
    return true;
  }

  private prepare(key: Uint8Array, nonce: Uint8Array, ad: Uint8Array, message: Message): void {
    const { heap } = this;
    assert(key.length === keyBytes && nonce.length === nonceBytes, "key and nonce are whole");
    assert(ad.length <= adBytesMax, "what is authenticated is a hash");
    assert(message.byteLength <= messageBytesMax, "a message fits a noise message");
    heap.set(key, this.key);
    heap.set(nonce, this.nonce);
    if (ad.length > 0) heap.set(ad, this.ad);
    if (message instanceof Uint8Array) {
      heap.set(message, this.input);
      return;
    }
    let at = this.input;
    for (const piece of message) {
      heap.set(piece, at);
      at += piece.byteLength;
    }
  }
}
