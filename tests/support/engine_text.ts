// What does the test engine say? Text that depends on the request alone, so that a retry and a
// continuation elsewhere can be compared with the unbroken answer.

/** What the test engine needs of a chat or completion request; everything else is ignored. */
export type EngineAsk = {
  readonly model: string;
  readonly question: string;
  /** Text so far of an answer that must be continued; empty when it starts. */
  readonly begun: string;
  /** At most so many tokens; `undefined` for no limit. */
  readonly tokensMax: number | undefined;
};

/** An answer cut into the pieces that a stream sends. */
export type EngineAnswer = {
  readonly tokens: readonly string[];
  readonly finishReason: "stop" | "length";
  readonly promptTokens: number;
};

/** The whole answer to a question: a fact that it knows, else the question itself. */
export function answerTo(question: string): string {
  if (question.includes("capital of Switzerland")) {
    return "The capital of Switzerland is Bern.";
  }
  return `You said: ${question}`;
}

/** Cuts text into words that keep the space before them; joined they are the text again. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/**
 * The answer to a request.
 * @param tokensWanted Exactly so many tokens instead of the natural answer; for load and streams.
 */
export function answerOf(ask: EngineAsk, tokensWanted?: number): EngineAnswer {
  const whole = tokensWanted === undefined
    ? tokensOf(answerTo(ask.question))
    : Array.from({ length: tokensWanted }, (_, index) => index === 0 ? "t0" : ` t${index}`);
  const rest = restOf(whole, ask.begun);
  // The end is a token of its own, for which there must be room, as with real engines.
  const isCut = ask.tokensMax !== undefined && rest.length >= ask.tokensMax;
  return {
    tokens: isCut ? rest.slice(0, ask.tokensMax) : rest,
    finishReason: isCut ? "length" : "stop",
    promptTokens: tokensOf(ask.question).length + tokensOf(ask.begun).length,
  };
}

function restOf(whole: readonly string[], begun: string): readonly string[] {
  if (begun === "") return whole;
  const text = whole.join("");
  return text.startsWith(begun) ? tokensOf(text.slice(begun.length)) : whole;
}

/** Reads what matters from the JSON body of `/v1/chat/completions`, `/v1/completions`, `/v1/responses`. */
export function askOf(body: Record<string, unknown>): EngineAsk {
  if (typeof body.prompt === "string") return askOfPrompt(body.prompt, body);
  const messages = listOf(body.messages ?? body.input);
  const last = messages.at(-1);
  const isContinued = body.continue_final_message === true && last?.role === "assistant";
  const user = messages.findLast((message) => message.role === "user");
  const limit = body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens;
  return {
    model: String(body.model ?? ""),
    question: textOf(user?.content ?? body.prompt ?? body.input ?? ""),
    begun: isContinued ? textOf(last?.content) : "",
    tokensMax: typeof limit === "number" ? limit : undefined,
  };
}

/** A prompt that ends with the beginning of this engine's own answer is one to go on from. */
function askOfPrompt(prompt: string, body: Record<string, unknown>): EngineAsk {
  const [, question = prompt, begun = ""] = /^(.*?)((?:You said: |t0 |t0$).*)$/s.exec(prompt) ?? [];
  const limit = body.max_tokens;
  return {
    model: String(body.model ?? ""),
    question,
    begun,
    tokensMax: typeof limit === "number" ? limit : undefined,
  };
}

type Message = { readonly role?: unknown; readonly content?: unknown };

function listOf(value: unknown): Message[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item) : [];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => typeof part?.text === "string" ? part.text : "").join("");
}
