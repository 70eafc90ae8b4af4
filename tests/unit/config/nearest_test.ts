import { equal } from "node:assert/strict";
import fc from "fast-check";
import { nearest } from "../../../lib/config/nearest.ts";

const known = ["service.port", "service.name", "port", "role", "bootstrap.addr"];

Deno.test("nearest finds the word with one letter missing, swapped, wrong or too many", () => {
  equal(nearest("service.prot", known), "service.port");
  equal(nearest("servce.port", known), "service.port");
  equal(nearest("service.nane", known), "service.name");
  equal(nearest("rolle", known), "role");
});

Deno.test("nearest says nothing when no word is near, whatever the length", () => {
  equal(nearest("zebra", known), undefined);
  equal(nearest("x", known), undefined);
  equal(nearest("", known), undefined);
  equal(nearest("p".repeat(1_000_000), known), undefined);
});

Deno.test("nearest finds a known word itself, in any case, and anything one edit away", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...known),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 1 }),
      (word, at, letter) => {
        equal(nearest(word.toUpperCase(), known), word);
        const place = at % word.length;
        const edited = word.slice(0, place) + letter + word.slice(place + 1);
        // Another known word may be just as near.
        equal(known.includes(nearest(edited, known) ?? ""), true);
      },
    ),
  );
});
