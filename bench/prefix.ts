// How much of the prompts do engines still have in their caches?
import { parsePeerId, type PeerId } from "../lib/base/peer_id.ts";
import { LoadBook } from "../lib/routing/load_book.ts";
import { createSelector } from "../lib/routing/policies/selector.ts";
import type { LbPolicy } from "../lib/routing/policies/types.ts";
import { blocksOf, PrefixIndex } from "../lib/routing/prefix_index.ts";
import type { Candidate } from "../lib/routing/types.ts";
import { seededRandom } from "../lib/sim/seeded_random.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const conversationCount = 200;
const turnCount = 10;
const workerCount = 4;
/** Conversations that one engine's cache holds. */
const cacheCount = 50;
const seeds = [1, 2, 3];
/** Source: issue 6. */
const bars = { hitRateMin: 0.7, ratioMin: 3, loadMax: 1.5 };
const systemPrompt = "You are a helpful assistant of a company that makes garden chairs. ".repeat(
  20,
);

type Result = { readonly hitRate: number; readonly loadRatio: number };

/** The real policies in front of engines whose caches forget what was used longest ago. */
export function benchPrefix(_options: BenchOptions, report: Report): Promise<void> {
  for (const seed of seeds) {
    const results = new Map<LbPolicy, Result>();
    for (const policy of ["random", "p2c", "prefix"] as const) {
      const result = simulate(policy, seed);
      results.set(policy, result);
      report.row({ seed, policy, hit_rate: result.hitRate, max_load: result.loadRatio });
    }
    const [random, prefix] = [results.get("random")!, results.get("prefix")!];
    report.judge(`hit rate, seed ${seed}`, prefix.hitRate, ">=", bars.hitRateMin);
    report.judge(
      `hit rate / random, seed ${seed}`,
      prefix.hitRate / random.hitRate,
      ">=",
      bars.ratioMin,
    );
    report.judge(`load / mean, seed ${seed}`, prefix.loadRatio, "<=", bars.loadMax);
  }
  return Promise.resolve();
}

function simulate(policy: LbPolicy, seed: number): Result {
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
  const caches = new Map(workers.map(({ peer }) => [peer, new ConversationCache()]));
  const loads = new Map<PeerId, number>();
  const said = Array.from({ length: conversationCount }, () => "");
  let hitChars = 0;
  let allChars = 0;
  const encoder = new TextEncoder();
  for (let turn = 0; turn < turnCount; turn++) {
    for (const conversation of shuffled(conversationCount, random)) {
      said[conversation] += `user ${conversation}.${turn}: ${"a question ".repeat(8)}\n`;
      const prompt = systemPrompt + said[conversation];
      const body = `{"model":"m","stream":true,"messages":${JSON.stringify(prompt)}}`;
      const { peer } = selector.select(workers, 0, blocksOf(encoder.encode(body)));
      loads.set(peer, (loads.get(peer) ?? 0) + 1);
      // Only what belongs to the conversation counts: the system prompt is in every cache anyway.
      hitChars += caches.get(peer)!.use(conversation, said[conversation].length);
      allChars += said[conversation].length;
      said[conversation] += `answer ${conversation}.${turn}: ${"some words ".repeat(20)}\n`;
    }
  }
  const mean = conversationCount * turnCount / workerCount;
  return { hitRate: hitChars / allChars, loadRatio: Math.max(...loads.values()) / mean };
}

/** What an engine remembers of conversations, by the number of characters. */
class ConversationCache {
  private readonly held = new Map<number, number>();

  /** @returns How much of it was there. */
  use(conversation: number, length: number): number {
    const hit = this.held.get(conversation) ?? 0;
    this.held.delete(conversation);
    this.held.set(conversation, length);
    if (this.held.size > cacheCount) this.held.delete(this.held.keys().next().value!);
    return hit;
  }
}

function shuffled(count: number, random: () => number): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order;
}
