import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { bucketOf, TableDigest } from "../../../lib/registry/digest.ts";
import { compareHeads, type EnvelopeHead } from "../../../lib/registry/order.ts";
import { SyncDescriber } from "../../../lib/registry/sync_describe.ts";
import { encodeSyncMessage, type SyncMessage } from "../../../lib/registry/sync_messages.ts";
import type { SyncTable } from "../../../lib/registry/sync_table.ts";
import { identityNamed } from "../../support/registry_keys.ts";

/** A table of bare heads; nothing else of a registry is asked for. */
function tableOf(heads: readonly EnvelopeHead[]): SyncTable {
  const digest = new TableDigest();
  for (const head of heads) digest.toggle(head);
  const sorted = [...heads].sort((a, b) => a.owner < b.owner ? -1 : 1);
  return {
    root: digest.root,
    backlogCount: 0,
    bucketHashes: () => digest.bucketHashes(),
    differingBuckets: (theirs) => digest.differingBuckets(theirs),
    headsIn: (bucket) => sorted.filter(({ owner }) => bucketOf(owner) === bucket),
    mayWant: () => false,
    envelopeOf: () => undefined,
    floorAbove: () => undefined,
  };
}

/** What `a` offers after `b` has described itself. */
function offered(a: SyncTable, b: SyncTable): { offers: EnvelopeHead[]; messages: SyncMessage[] } {
  const [ofA, ofB] = [new SyncDescriber(a), new SyncDescriber(b)];
  const messages: SyncMessage[] = [];
  ofB.asked(a.bucketHashes());
  for (let message = ofB.nextHeads(); message; message = ofB.nextHeads()) {
    ok(message.type === "heads");
    messages.push(message);
    ofA.heard(message.range, message.heads);
  }
  const offers: EnvelopeHead[] = [];
  for (let message = ofA.nextOffer(); message; message = ofA.nextOffer()) {
    ok(message.type === "offer");
    messages.push(message);
    offers.push(...message.heads);
  }
  return { offers, messages };
}

/** The simple version: every head of `a` that `b` lacks or holds older. */
function missing(a: readonly EnvelopeHead[], b: readonly EnvelopeHead[]): EnvelopeHead[] {
  const held = new Map(b.map((head) => [head.owner, head]));
  return a.filter((head) => {
    const known = held.get(head.owner);
    return !known || compareHeads(head, known) > 0;
  });
}

function sorted(heads: readonly EnvelopeHead[]): string[] {
  return heads.map(({ owner, epoch, seq }) => `${owner} ${epoch}.${seq}`).sort();
}

const owners = Array.from({ length: 60 }, (_, at) => identityNamed(`owner ${at}`).peerId);
const heads = fc.uniqueArray(
  fc.record({
    owner: fc.constantFrom(...owners),
    epoch: fc.nat(2),
    seq: fc.nat(2),
    hash: fc.constant("aa".repeat(32)),
  }),
  { selector: ({ owner }) => owner },
);

Deno.test("SyncDescriber: offers exactly what the other side lacks", () => {
  fc.assert(fc.property(heads, heads, (ofA, ofB) => {
    const { offers } = offered(tableOf(ofA), tableOf(ofB));
    deepEqual(sorted(offers), sorted(missing(ofA, ofB)));
  }));
});

Deno.test("SyncDescriber: cuts one overfull bucket by owner, each message within its bound", () => {
  // Somebody who grinds keys until all fall into one bucket.
  const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const ground: EnvelopeHead[] = [];
  for (let at = 0; ground.length < 1_000; at++) {
    const tail = [0, 1, 2, 3].map((place) => digits[Math.floor(at / 58 ** place) % 58]).join("");
    const owner = owners[0].slice(0, -4) + tail as EnvelopeHead["owner"];
    if (bucketOf(owner) === 7) ground.push({ owner, epoch: 1, seq: 1, hash: "aa".repeat(32) });
  }
  const half = ground.filter((_, at) => at % 2 === 0);
  const { offers, messages } = offered(tableOf(ground), tableOf(half));
  deepEqual(sorted(offers), sorted(missing(ground, half)));
  const back = offered(tableOf([]), tableOf(ground));
  deepEqual(back.offers, []);
  ok(back.messages.length >= 2);
  for (const message of [...messages, ...back.messages]) {
    ok(encodeSyncMessage(message).byteLength <= 65_536);
  }
});
