import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import { parsePeerId } from "../../../lib/base/peer_id.ts";
import { Dialer } from "../../../lib/mesh/dialer.ts";
import { type DialFailure, PeerDials } from "../../../lib/node/peer_dials.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { within } from "../../support/within.ts";

const peer = parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX");

/** What membership is told of a dial that ends like this. */
async function verdictOf(error: Error): Promise<DialFailure> {
  const { promise, resolve } = Promise.withResolvers<DialFailure>();
  const dials = new PeerDials({
    connect: () => Promise.reject(error),
    failed: (_, how) => resolve(how),
  });
  dials.dial(peer);
  try {
    return await within(1_000, promise);
  } finally {
    dials.close();
  }
}

/** What a dial says when its addresses end like this. */
async function errorOf(...errors: readonly Error[]): Promise<OtelaError> {
  const left = [...errors];
  const dialer = new Dialer(() => Promise.reject(left.shift()), () => []);
  const addresses = errors.map((_, at) => `/ip4/127.0.0.1/tcp/${at + 1}`);
  const { promise, resolve } = Promise.withResolvers<OtelaError>();
  await rejects(dialer.dial(peer, addresses, AbortSignal.timeout(5_000)), (error) => {
    ok(error instanceof OtelaError);
    resolve(error);
    return true;
  });
  return await promise;
}

const refused = (text: string) => new Deno.errors.ConnectionRefused(text);

Deno.test("B28: a refusal is known by its type, at every address, and never by what it says", async () => {
  const rows: [DialFailure, Error[]][] = [
    ["dialRefused", [refused("Connection refused (os error 111)")]],
    ["dialRefused", [refused("tomorrow's words"), refused("")]],
    ["dialFailed", [new Error("Connection refused (os error 111)")]],
    ["dialFailed", [new Error("NO_RESERVATION")]],
    ["dialFailed", [refused(""), new Deno.errors.TimedOut("nobody answers")]],
    ["dialFailed", []],
  ];
  for (const [verdict, errors] of rows) {
    const error = await errorOf(...errors);
    equal(error.code, "peer_unreachable");
    equal(await verdictOf(error), verdict, errors.join());
  }
  equal(await verdictOf(new Error("Connection refused")), "dialFailed");
});

Deno.test("PeerDials dials each peer once at a time, sixteen at once, and all of them", async () => {
  const running = new Map<string, () => void>();
  const asked: string[] = [];
  const dials = new PeerDials({
    connect: (peer) => {
      asked.push(peer);
      return new Promise((resolve) => running.set(peer, resolve));
    },
    failed: () => {},
  });
  const peers = Array.from({ length: 40 }, (_, at) => peerNumbered(at));
  for (const peer of [...peers, ...peers]) dials.dial(peer);
  equal(running.size, 16);
  while (running.size > 0) {
    for (const [peer, end] of [...running]) {
      running.delete(peer);
      end();
    }
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
  deepEqual(asked, peers);
  dials.close();
});
