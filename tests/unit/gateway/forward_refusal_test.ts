import { deepEqual, match } from "node:assert/strict";
import { noTier } from "../../../lib/gateway/forward_refusal.ts";
import type { RoutingRequest } from "../../../lib/routing/select_tiers.ts";
import type { Tier } from "../../../lib/routing/types.ts";
import { claim, entry, peer, service, viewOf } from "./fixture.ts";

/** All of them have left. */
const lost = viewOf(
  entry(peer("A"), claim(service("llm", "model=exact")), "left"),
  entry(peer("B"), claim(service("llm", "lora=*")), "left"),
  entry(peer("C"), claim(service("any", "all")), "left"),
);

function refusalOf(
  service: string,
  keys: Record<string, string | null>,
  fallbackLevel: Tier,
  allowedPeers: string[] | null = null,
): string {
  const matchKeys = new Map(Object.entries(keys));
  const request: RoutingRequest = { service, matchKeys, fallbackLevel, allowedPeers };
  return noTier("no_match", request, lost.claimed()).code;
}

Deno.test("noTier is 503 exactly for what those who left would have served", () => {
  const both = { model: "other", lora: "tuned" };
  const expected: [string, string][] = [
    [refusalOf("llm", { model: "exact" }, 0), "no_candidate"],
    [refusalOf("llm", { model: "other" }, 0), "model_not_found"],
    [refusalOf("llm", { model: "other" }, 2), "model_not_found"],
    // A wildcard, also by another key than the first, serves those alone who let it.
    [refusalOf("llm", both, 0), "model_not_found"],
    [refusalOf("llm", both, 1), "no_candidate"],
    [refusalOf("llm", { lora: null }, 1), "no_candidate"],
    [refusalOf("any", { model: "other" }, 1), "model_not_found"],
    [refusalOf("any", {}, 2), "no_candidate"],
    [refusalOf("any", {}, 2, [peer("A")]), "no_candidate"],
    [refusalOf("image", {}, 2), "no_such_service"],
  ];
  deepEqual(expected.map(([code]) => code), expected.map(([, code]) => code));
});

Deno.test("noTier says in words what the request asked for", () => {
  const asks = (matchKeys: Map<string, string>): RoutingRequest => {
    return { service: "llm", matchKeys, fallbackLevel: 0, allowedPeers: null };
  };
  const wordsFor = (keys: [string, string][]) =>
    noTier("no_match", asks(new Map(keys)), lost.claimed()).message;
  match(wordsFor([["model", "exact"]]), /no peer with model=exact is here now/);
  match(wordsFor([["model", "other"]]), /no peer offers model=other/);
  match(wordsFor([]), /names nothing .* X-Otela-Identity-Group/);
});
