// Which conversations does `bench prefix` lead, and when are they well kept?
import type { LbPolicy } from "../../lib/routing/policies/types.ts";
import type { Report } from "./report.ts";

export const seeds: readonly number[] = [1, 2, 3];
export const conversationCount = 200;
export const turnCount = 10;
export const workerCount = 4;
/** What every conversation begins with; it is in every cache, so it counts neither as hit nor as miss. */
export const systemPrompt: string =
  "You are a helpful assistant of a company that makes garden chairs. ".repeat(20);

/** Conversations that one engine's cache holds. */
const cacheCount = 50;
/** Source: issue 6. */
const bars = { hitRateMin: 0.7, ratioMin: 3, loadMax: 1.5 };

/** What one policy achieved. */
export type PrefixResult = {
  /** Share of what conversations sent, the system prompt aside, that was in the cache of the engine they were sent to. */
  readonly hitRate: number;
  /** Of the worker that was asked most, by the mean. */
  readonly loadRatio: number;
};

/** What a client says. */
export function questionOf(conversation: number, turn: number): string {
  return `user ${conversation}.${turn}: ${"a question ".repeat(8)}\n`;
}

/** What an engine answers. */
export function answerOf(conversation: number, turn: number): string {
  return `answer ${conversation}.${turn}: ${"some words ".repeat(20)}\n`;
}

/** What an engine remembers of conversations, by the number of characters; it forgets what was used longest ago. */
export class ConversationCache<Key> {
  private readonly held = new Map<Key, number>();

  /** @returns How much of it was there. */
  use(conversation: Key, length: number): number {
    const hit = this.held.get(conversation) ?? 0;
    this.held.delete(conversation);
    this.held.set(conversation, length);
    if (this.held.size > cacheCount) this.held.delete(this.held.keys().next().value!);
    return Math.min(hit, length);
  }
}

/** The numbers below `count` in an order by chance. */
export function shuffled(count: number, random: () => number): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order;
}

/** Holds the policy `prefix` against the bars, beside chance. */
export function judgePrefix(
  seed: number,
  results: ReadonlyMap<LbPolicy, PrefixResult>,
  report: Report,
): void {
  const [random, prefix] = [results.get("random")!, results.get("prefix")!];
  const ratio = prefix.hitRate / random.hitRate;
  report.judge(`hit rate, seed ${seed}`, prefix.hitRate, ">=", bars.hitRateMin);
  report.judge(`hit rate / random, seed ${seed}`, ratio, ">=", bars.ratioMin);
  report.judge(`load / mean, seed ${seed}`, prefix.loadRatio, "<=", bars.loadMax);
}
