// How is another engine asked to go on where one broke off?
import type { ExchangeFailure } from "../base/outcome.ts";
import { type CompletionRequest, promptOf } from "./completion_request.ts";
import type { CompletionLog } from "./completion_log.ts";

/** What is known when a stream has broken after its answer had begun. */
export type BrokenStream = {
  readonly failure: ExchangeFailure;
  readonly isClientGone: boolean;
  /** What the service says of requests that its engine has seen. */
  readonly policy: "safe" | "never";
  /** How often this stream has been continued. */
  readonly count: number;
  /** How often it may be; 0 switches continuation off. */
  readonly countMax: number;
  /** Of `whyNotContinued` or `readCompletionRequest`; `undefined` when nothing stands against it. */
  readonly why: string | undefined;
};

/** `stop`: nobody to tell; `fail`: tell the client in its stream, for the reason given. */
export type ContinuationDecision =
  | { readonly type: "continue" }
  | { readonly type: "stop" }
  | { readonly type: "fail"; readonly why: string };

/** Decides whether a broken stream goes on elsewhere. */
export function decideContinuation(broken: BrokenStream): ContinuationDecision {
  if (broken.isClientGone) return { type: "stop" };
  if (broken.failure === "canceled") return fail("this node ended it");
  if (broken.countMax === 0) return fail("continuation is off");
  if (broken.policy === "never") return fail("the service is never asked twice");
  if (broken.count >= broken.countMax) return fail(`it broke ${broken.count + 1} times`);
  return broken.why === undefined ? { type: "continue" } : fail(broken.why);
}

/** What an engine is asked, and what of its answer the client has already. */
export type ContinuationPlan = {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Blanks at the end of the text so far, which the engine was not told: it will say them again. */
  readonly blanks: string;
  /** All text has been said: only the end and the usage are wanted. */
  readonly isTextOver: boolean;
  /** Tokens that the client has and the engine will not say again. */
  readonly tokenCount: number;
  /** Tokens of the answer that the engine counts among its prompt. */
  readonly sentCount: number;
};

/**
 * The request for the rest of an answer: for a chat the text so far as the assistant's unfinished last message,
 * for a completion as the end of its prompt; limits on tokens count on from there.
 * @param tokenCount Of the text so far.
 */
export function planContinuation(
  request: CompletionRequest,
  log: CompletionLog,
  tokenCount: number,
): ContinuationPlan {
  const { kind, fields } = request;
  // Chat templates trim messages; what they would drop is not sent, so that both sides know the same.
  const said = kind === "chat" ? log.text.trimEnd() : log.text;
  const blanks = log.text.slice(said.length);
  const isTextOver = isOver(request, log, tokenCount);
  const sentCount = Math.max(0, tokenCount - (blanks === "" ? 0 : log.blankCount));
  const keptCount = isTextOver ? tokenCount : sentCount;
  const changed = {
    ...fields,
    ...(said === "" ? {} : kind === "chat" ? goneOn(fields, said) : extended(fields, said)),
    ...limitsLeft(fields, keptCount, isTextOver),
  };
  const body = new TextEncoder().encode(JSON.stringify(changed));
  return { body, blanks, isTextOver, tokenCount: keptCount, sentCount };
}

/**
 * The events that end a stream whose text is over, when no engine has to be asked for them.
 * @returns `undefined` when the client wants usage and it is not known exactly.
 */
export function closingEvents(
  request: CompletionRequest,
  log: CompletionLog,
  tokenCount: number,
): string | undefined {
  if (!isOver(request, log, tokenCount) || (request.wantsUsage && !log.isUsageExact)) {
    return undefined;
  }
  const base = {
    id: log.names?.id,
    object: request.kind === "chat" ? "chat.completion.chunk" : "text_completion",
    created: log.names?.created,
    model: log.names?.model,
  };
  const events: unknown[] = [];
  if (log.finishReason === null) {
    const spoken = request.kind === "chat" ? { delta: {} } : { text: "" };
    events.push({ ...base, choices: [{ index: 0, ...spoken, finish_reason: "length" }] });
  }
  if (request.wantsUsage && log.usage) {
    const { promptTokens, completionTokens } = log.usage;
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    };
    events.push({ ...base, choices: [], usage });
  }
  return [...events.map((event) => JSON.stringify(event)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`).join("");
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether no text is missing, only the end of the stream. */
function isOver(request: CompletionRequest, log: CompletionLog, tokenCount: number): boolean {
  return log.finishReason !== null ||
    (request.tokensMax !== undefined && tokenCount >= request.tokensMax);
}

function goneOn(fields: Fields, said: string): Fields {
  const messages = fields.messages as Fields[];
  const isBegun = fields.continue_final_message === true;
  const before = isBegun ? messages.slice(0, -1) : messages;
  const begun = isBegun ? messages[messages.length - 1] : { role: "assistant", content: "" };
  return {
    messages: [...before, { ...begun, content: `${begun.content}${said}` }],
    continue_final_message: true,
    add_generation_prompt: false,
  };
}

function extended(fields: Fields, said: string): Fields {
  const whole = `${promptOf(fields)}${said}`;
  return { prompt: Array.isArray(fields.prompt) ? [whole] : whole };
}

const mostNames = ["max_tokens", "max_completion_tokens"];

/** An engine that only ends the stream says one token, which nobody sees: none is not allowed. */
function limitsLeft(fields: Fields, tokenCount: number, isTextOver: boolean): Fields {
  const left: Record<string, number> = {};
  for (const name of mostNames) {
    const most = fields[name];
    if (typeof most === "number") left[name] = isTextOver ? 1 : Math.max(1, most - tokenCount);
  }
  if (isTextOver && Object.keys(left).length === 0) left.max_tokens = 1;
  const least = fields.min_tokens;
  if (typeof least === "number") left.min_tokens = isTextOver ? 0 : Math.max(0, least - tokenCount);
  return left;
}

function fail(why: string): ContinuationDecision {
  return { type: "fail", why };
}
