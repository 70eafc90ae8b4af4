// How much of the prompts do engines still have in their caches, when they are simulated?
import { parsePeerId, type PeerId } from "../lib/base/peer_id.ts";
import { LoadBook } from "../lib/routing/load_book.ts";
import { createSelector } from "../lib/routing/policies/selector.ts";
import type { LbPolicy } from "../lib/routing/policies/types.ts";
import { blocksOf, PrefixIndex } from "../lib/routing/prefix_index.ts";
import type { Candidate } from "../lib/routing/types.ts";
import { seededRandom } from "../lib/sim/seeded_random.ts";
import {
  answerOf,
  ConversationCache,
  conversationCount,
  judgePrefix,
  type PrefixResult,
  questionOf,
  seeds,
  shuffled,
  systemPrompt,
  turnCount,
  workerCount,
} from "./rig/conversations.ts";
import type { Report } from "./rig/report.ts";

/** The real policies in front of engines whose caches forget what was used longest ago; nothing is sent. */
export function simulatePrefix(report: Report): void {
  for (const seed of seeds) {
    const results = new Map<LbPolicy, PrefixResult>();
    for (const policy of ["random", "p2c", "prefix"] as const) {
      const result = simulate(policy, seed);
      results.set(policy, result);
      report.row({ seed, policy, hit_rate: result.hitRate, max_load: result.loadRatio });
    }
    judgePrefix(seed, results, report);
  }
}

function simulate(policy: LbPolicy, seed: number): PrefixResult {
  const random = seededRandom(seed);
  const book = new LoadBook();
  const prefixes = new PrefixIndex();
  const selector = createSelector(policy, { book, random, prefixes });
  const workers = Array.from({ length: workerCount }, (_, index): Candidate => ({
    peer: parsePeerId(`12D3KooW${"A".repeat(43)}${"ABCD"[index]}`),
    service: "llm",
    engine: { kind: "vllm", version: "", continues: true },
    retry: "safe",
    capacity: 0,
    isSuspect: false,
  }));
  const caches = new Map(workers.map(({ peer }) => [peer, new ConversationCache<number>()]));
  const loads = new Map<PeerId, number>();
  const said = Array.from({ length: conversationCount }, () => "");
  let hitChars = 0;
  let allChars = 0;
  const encoder = new TextEncoder();
  for (let turn = 0; turn < turnCount; turn++) {
    for (const conversation of shuffled(conversationCount, random)) {
      said[conversation] += questionOf(conversation, turn);
      const prompt = systemPrompt + said[conversation];
      const body = `{"model":"m","stream":true,"messages":${JSON.stringify(prompt)}}`;
      const { peer } = selector.select(workers, 0, blocksOf(encoder.encode(body)));
      loads.set(peer, (loads.get(peer) ?? 0) + 1);
      hitChars += caches.get(peer)!.use(conversation, said[conversation].length);
      allChars += said[conversation].length;
      said[conversation] += answerOf(conversation, turn);
    }
  }
  const mean = conversationCount * turnCount / workerCount;
  return { hitRate: hitChars / allChars, loadRatio: Math.max(...loads.values()) / mean };
}
