// What does one event of a streamed completion say?
import type { CompletionKind } from "./completion_request.ts";

/** Tokens as engines count them. */
export type TokenUsage = {
  readonly promptTokens: number;
  readonly completionTokens: number;
};

type Fields = Record<string, unknown>;

/** One event, understood as far as a continuation minds. */
export type CompletionChunk = {
  /** The event as it came; the caller's to change. */
  readonly fields: Fields;
  /** Its only choice; `undefined` when it has none, as an event of usage alone. */
  readonly choice: Fields | undefined;
  /** New text, maybe empty. */
  readonly text: string;
  readonly finishReason: string | null;
  /** All tokens so far, when the event says so. */
  readonly usage: TokenUsage | undefined;
};

/** An event is a chunk, the end, or in words why it is none that we know. */
export type CompletionEvent =
  | { readonly type: "chunk"; readonly chunk: CompletionChunk }
  | { readonly type: "done" }
  | { readonly type: "unknown"; readonly why: string };

const done: CompletionEvent = { type: "done" };

/** What a choice may hold besides its text without meaning more than that. */
const plainMembers: Readonly<Record<CompletionKind, ReadonlySet<string>>> = {
  chat: new Set(["index", "delta", "finish_reason", "stop_reason", "matched_stop"]),
  text: new Set(["index", "text", "finish_reason", "stop_reason", "matched_stop"]),
};

/**
 * Reads one event. Strict about what it does not know: text that was spoken in a way not seen here would be
 * missing from what another engine is told.
 * @param data Of an event; untrusted.
 */
export function readCompletionEvent(kind: CompletionKind, data: string): CompletionEvent {
  if (data === "[DONE]") return done;
  const fields = parseObject(data);
  if (!fields) return unknown("an event is no JSON object");
  if (isPresent(fields.error)) return unknown("the engine reported an error");
  const { choices } = fields;
  if (!Array.isArray(choices)) return unknown("an event has no choices");
  if (choices.length > 1) return unknown("an event has several choices");
  const usage = usageOf(fields.usage);
  if (choices.length === 0) {
    return {
      type: "chunk",
      chunk: { fields, choice: undefined, text: "", finishReason: null, usage },
    };
  }
  const choice: unknown = choices[0];
  if (!isObject(choice) || (choice.index ?? 0) !== 0) return unknown("a choice is not the first");
  const stranger = strangerIn(choice, plainMembers[kind]);
  if (stranger !== undefined) return unknown(`a choice has ${stranger}`);
  const spoken = kind === "chat" ? choice.delta ?? {} : { content: choice.text };
  if (!isObject(spoken)) return unknown("a delta is no object");
  const more = strangerIn(spoken, deltaMembers);
  if (more !== undefined) return unknown(`a delta has ${more}`);
  const text = spoken.content ?? "";
  const finishReason = choice.finish_reason ?? null;
  if (typeof text !== "string") return unknown("a text is no text");
  if (finishReason !== null && typeof finishReason !== "string") {
    return unknown("a reason is no text");
  }
  if (finishReason === "tool_calls" || finishReason === "function_call") {
    return unknown("the engine called a tool");
  }
  return { type: "chunk", chunk: { fields, choice, text, finishReason, usage } };
}

const deltaMembers: ReadonlySet<string> = new Set(["role", "content"]);

/** The first member that says something and is none of those we know. */
function strangerIn(object: Fields, known: ReadonlySet<string>): string | undefined {
  for (const name in object) if (!known.has(name) && isPresent(object[name])) return name;
  return undefined;
}

function isPresent(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return !(Array.isArray(value) && value.length === 0);
}

function usageOf(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = value;
  if (typeof promptTokens !== "number" || typeof completionTokens !== "number") return undefined;
  return { promptTokens, completionTokens };
}

function parseObject(data: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknown(why: string): CompletionEvent {
  return { type: "unknown", why };
}
