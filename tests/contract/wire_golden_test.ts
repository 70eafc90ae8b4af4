// What exactly travels between two versions of otela? A fleet runs mixed versions, so these bytes are a promise.
import { deepEqual, equal } from "node:assert/strict";
import { sha256 } from "@noble/hashes/sha2.js";
import { FrameReader, FrameType } from "../../lib/lane/frame.ts";
import { FrameWriter } from "../../lib/lane/frame_writer.ts";
import { decodeHello, decodeRequest, decodeResponse, encodeHead } from "../../lib/lane/head.ts";
import { HeadAssembler, writeHead } from "../../lib/lane/head_frames.ts";
import { toHex } from "../../lib/registry/bytes.ts";
import { decodeEnvelope, encodeEnvelope, signEnvelope } from "../../lib/registry/envelope.ts";
import { expectGolden } from "../support/golden.ts";
import { identityNamed } from "../support/registry_keys.ts";

const hello = { frameMax: 16_384, window: 65_536, exchangesMax: 4_096, features: ["socket"] };
const request = {
  s: "llm",
  m: "POST",
  p: "/v1/chat/completions?x=%2F",
  h: ["content-type", "application/json"],
  n: 2,
  w: 65_536,
};
const response = { s: 200, h: ["content-type", "text/event-stream"] };
const bytes = (text: string) => new TextEncoder().encode(text);

/** One exchange with a streamed answer, one canceled, and what keeps a lane alive. */
function conversation(): Uint8Array {
  const batches: Uint8Array[] = [];
  const writer = new FrameWriter({
    send: (batch) => batches.push(batch) > 0,
    requestFlush: () => {},
  });
  writer.frame(FrameType.hello, 0, encodeHead(hello));
  writeHead(writer, FrameType.request, 1, encodeHead(request), bytes("{}"), true);
  writeHead(writer, FrameType.response, 1, encodeHead(response), bytes(""), false);
  writer.frame(FrameType.data, 1, bytes("data: 1\n\n"));
  writer.frame(FrameType.end, 1, encodeHead({ t: ["x-usage", "7"], l: 3 }));
  writer.frame(FrameType.credit, 2, new Uint8Array([0, 1, 0, 0]));
  writer.frame(FrameType.cancel, 2, bytes("client gone"));
  writer.frame(FrameType.error, 3, encodeHead({ f: "overloaded", p: "refused", m: "Full" }));
  writer.frame(FrameType.ping, 0);
  writer.frame(FrameType.pong, 0);
  writer.flush();
  equal(batches.length, 1);
  return batches[0];
}

Deno.test("frames of a lane have the bytes that other versions expect", async () => {
  const names = new Map<number, string>(
    Object.entries(FrameType).map(([name, type]) => [type, name]),
  );
  const lines: string[] = [];
  new FrameReader().push(conversation(), (type, id, payload) => {
    lines.push(`${names.get(type)} ${type} id=${id} ${toHex(payload)}`);
  });
  await expectGolden("lane_frames.txt", lines.join("\n") + "\n");
});

Deno.test("heads of a lane are read as they were written", () => {
  const heads: Uint8Array[] = [];
  new FrameReader().push(conversation(), (type, _id, payload) => {
    if (type === FrameType.hello) heads.push(payload.slice());
    if (type === FrameType.request || type === FrameType.response) {
      heads.push(new HeadAssembler().push(payload)!.head.slice());
    }
  });
  deepEqual(decodeHello(heads[0]), hello);
  deepEqual(decodeRequest(heads[1]), request);
  deepEqual(decodeResponse(heads[2]), response);
});

Deno.test("an envelope has the bytes that other versions verify", async () => {
  const owner = identityNamed("golden");
  const envelope = signEnvelope(
    {
      network: "opentela",
      owner: owner.peerId,
      publicKey: owner.publicKeyProtobuf,
      epoch: 3,
      seq: 7,
      run: "000102030405060708090a0b0c0d0e0f",
      leaseS: 10_800,
      admit: sha256(bytes("secret")),
    },
    bytes("a document"),
    (message) => owner.sign(message),
  );
  const whole = encodeEnvelope(envelope);
  const renewal = encodeEnvelope({ ...envelope, document: null });
  equal(typeof decodeEnvelope(whole), "object");
  await expectGolden(
    "claim_envelope.txt",
    `owner ${owner.peerId}\nwhole ${toHex(whole)}\nrenewal ${toHex(renewal)}\n`,
  );
});
