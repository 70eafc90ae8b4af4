// How much of the prompts do engines still have in their caches?
import type { LbPolicy } from "../lib/routing/policies/types.ts";
import { seededRandom } from "../lib/sim/seeded_random.ts";
import { arrive } from "./load/open_loop.ts";
import { percentile } from "./load/percentile.ts";
import { SlotEngine, type SlotRequest, type SlotTurn } from "./load/slot_engine.ts";
import { simulatePrefix } from "./prefix_sim.ts";
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
import { startEngineNodes } from "./rig/engine_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const perS = 40;
const slots = 8;
/** Time to write an answer, and to read 1,000 characters that are in no cache (about 250 tokens). A guess. */
const decodeMs = 100;
const readMs = 100;

type Message = SlotRequest["messages"][number];
type Measured = PrefixResult & {
  readonly failedCount: number;
  readonly timesMs: readonly number[];
};

/**
 * Real heads and workers, one mesh a policy, under the same conversations at the same time; each goes on when it
 * has been answered. `--small`: the policies alone, nothing is sent.
 */
export async function benchPrefix(options: BenchOptions, report: Report): Promise<void> {
  if (options.isSmall) return simulatePrefix(report);
  const policies = ["random", "prefix"] as const;
  for (const seed of seeds.slice(0, options.rounds)) {
    await using stack = new AsyncDisposableStack();
    const meshes: { policy: LbPolicy; headUrl: string; engines: CachingEngine[] }[] = [];
    for (const policy of policies) {
      const engines = Array.from({ length: workerCount }, () => stack.use(new CachingEngine()));
      const headArgs = ["--lb-policy", policy];
      const { head } = await startEngineNodes(stack, engines, { exe: options.exe, headArgs });
      meshes.push({ policy, headUrl: head.http, engines });
    }
    const results = new Map<LbPolicy, PrefixResult>();
    await Promise.all(meshes.map(async ({ policy, headUrl, engines }) => {
      const { timesMs, failedCount, ...result } = await converse(headUrl, engines, seed);
      results.set(policy, result);
      report.row({
        seed,
        policy,
        requests: timesMs.length,
        failed: failedCount,
        hit_rate: result.hitRate,
        max_load: result.loadRatio,
        p50_ms: percentile(timesMs, 0.5),
        p99_ms: percentile(timesMs, 0.99),
      });
      report.judge(`${policy} failed, seed ${seed}`, failedCount, "=", 0);
    }));
    judgePrefix(seed, results, report);
  }
}

/** An engine that reads again what its cache has forgotten. */
class CachingEngine extends SlotEngine {
  hitChars = 0;
  allChars = 0;

  constructor() {
    const cache = new ConversationCache<string>();
    super({ slots, turn: (request) => this.#turn(request, cache) });
  }

  #turn({ messages }: SlotRequest, cache: ConversationCache<string>): SlotTurn {
    const said = messages.slice(1);
    const key = said[0].content; // Tells the conversation.
    const chars = said.reduce((sum, { content }) => sum + content.length, 0);
    const hit = cache.use(key, chars);
    this.hitChars += hit;
    this.allChars += chars;
    const [, conversation, turn] = /^user (\d+)\.(\d+)/.exec(said.at(-1)!.content)!;
    const answer = answerOf(Number(conversation), Number(turn));
    return { serviceMs: decodeMs + (chars - hit) * readMs / 1_000, answer };
  }
}

async function converse(
  headUrl: string,
  engines: readonly CachingEngine[],
  seed: number,
): Promise<Measured> {
  const random = seededRandom(seed);
  const order = Array.from({ length: turnCount }, () => shuffled(conversationCount, random)).flat();
  const conversations = Array.from({ length: conversationCount }, (_, index) => {
    return new Conversation(headUrl, index);
  });
  const answers = await arrive(
    order.map((_, index) => index * 1_000 / perS),
    (index) => conversations[order[index]].ask(),
  );
  const sum = (of: (engine: CachingEngine) => number) =>
    engines.reduce((total, engine) => total + of(engine), 0);
  const turns = engines.map(({ turnCount }) => turnCount);
  return {
    hitRate: sum(({ hitChars }) => hitChars) / sum(({ allChars }) => allChars),
    loadRatio: Math.max(...turns) / (sum(({ turnCount }) => turnCount) / engines.length),
    failedCount: answers.filter((ms) => ms === undefined).length,
    timesMs: answers.filter((ms) => ms !== undefined),
  };
}

/** A client that says one thing after the other. */
class Conversation {
  readonly #messages: Message[] = [{ role: "system", content: systemPrompt }];
  #turn = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly headUrl: string, readonly index: number) {}

  /** Asks the next question as soon as the one before is answered. @returns The time, `undefined` if it failed. */
  ask(): Promise<number | undefined> {
    const asked = this.#last.then(() => this.#ask());
    this.#last = asked;
    return asked;
  }

  async #ask(): Promise<number | undefined> {
    const messages = this.#messages;
    messages.push({ role: "user", content: questionOf(this.index, this.#turn++) });
    const beganMs = performance.now();
    try {
      const response = await fetch(`${this.headUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages }),
      });
      const { choices } = await response.json();
      messages.push(choices[0].message);
      return performance.now() - beganMs;
    } catch {
      return undefined;
    }
  }
}
