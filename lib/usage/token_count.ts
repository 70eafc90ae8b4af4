// How many tokens has a text?
import type { CompletionLog } from "./completion_log.ts";

/** A question to an engine's own endpoint. */
export type TokenizeCall = { readonly path: string; readonly body: Uint8Array<ArrayBuffer> };

/**
 * What to ask an engine of some kind to count a text's tokens.
 * Sources: vLLM `entrypoints/serve/tokenize`, SGLang `entrypoints/openai/serving_tokenize.py`, llama.cpp
 * `tools/server/README.md`.
 * @returns `undefined` when the kind has no such endpoint.
 */
export function tokenizeCall(
  engineKind: string,
  model: string,
  text: string,
): TokenizeCall | undefined {
  switch (engineKind) {
    case "vllm":
    case "sglang":
      return call({ model, prompt: text, add_special_tokens: false });
    case "llama.cpp":
      return call({ content: text, add_special: false });
  }
}

/** The count in an engine's answer; `undefined` when it is none that we know. @param body Untrusted. */
export function tokensCounted(body: Uint8Array): number | undefined {
  try {
    const { count, tokens } = JSON.parse(new TextDecoder().decode(body)) ?? {};
    if (Number.isSafeInteger(count) && count >= 0) return count;
    return Array.isArray(tokens) ? tokens.length : undefined;
  } catch {
    return undefined;
  }
}

/** Tokens of what was said. */
export type TokenCount = {
  readonly count: number;
  /** Counted by events, since nobody said better: about right, too few where an event holds several tokens. */
  readonly isEstimated: boolean;
};

/**
 * The best count there is: the engine's own while it streamed, else what an engine counted afterwards, else one
 * for each event with text.
 * @param log Read.
 */
export function tokenCountOf(log: CompletionLog, counted: number | undefined): TokenCount {
  if (log.isUsageExact && log.usage) {
    return { count: log.usage.completionTokens, isEstimated: false };
  }
  if (counted !== undefined) return { count: counted, isEstimated: false };
  return { count: log.deltaCount, isEstimated: log.deltaCount > 0 };
}

function call(fields: Record<string, unknown>): TokenizeCall {
  return { path: "/tokenize", body: new TextEncoder().encode(JSON.stringify(fields)) };
}
