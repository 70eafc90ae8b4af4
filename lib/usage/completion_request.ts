// May the answer to this request be continued by another engine, if its own dies?

/** The endpoints whose streams can be continued: `/v1/chat/completions` and `/v1/completions`. */
export type CompletionKind = "chat" | "text";

type Fields = Readonly<Record<string, unknown>>;

/** A request for a streamed completion, as far as its continuation minds. */
export type CompletionRequest = {
  readonly kind: CompletionKind;
  /** The whole body. */
  readonly fields: Fields;
  readonly model: string;
  /** Most tokens of the answer; `undefined` when the engine decides. */
  readonly tokensMax: number | undefined;
  readonly wantsUsage: boolean;
  readonly stops: readonly string[];
};

/** A request that could be continued, or in words why it cannot. */
export type RequestVerdict =
  | { readonly isContinuable: true; readonly request: CompletionRequest }
  | { readonly isContinuable: false; readonly why: string };

/**
 * The kind of completion that a path asks for.
 * @param path Raw path and query, as for the engine.
 */
export function completionKindOf(path: string): CompletionKind | undefined {
  const end = path.indexOf("?");
  switch (end < 0 ? path : path.slice(0, end)) {
    case "/v1/chat/completions":
      return "chat";
    case "/v1/completions":
      return "text";
  }
}

/** Asks for more than text, or for text of a form that a second engine would begin anew. */
const forbidden: readonly string[] = [
  "audio",
  "functions",
  "function_call",
  "grammar",
  "guided_choice",
  "guided_grammar",
  "guided_json",
  "guided_regex",
  "ebnf",
  "input_ids",
  "json_schema",
  "prediction",
  "prompt_embeds",
  "prompt_logprobs",
  "regex",
  "return_token_ids",
  "return_tokens_as_token_ids",
  "structural_tag",
  "structured_outputs",
  "suffix",
  "tools",
  "truncate_prompt_tokens",
  "use_beam_search",
];

/**
 * Judges a request. Unknown members pass to the next engine as they are.
 * @param body Untrusted; parsed only here, when a stream has broken.
 */
export function readCompletionRequest(kind: CompletionKind, body: Uint8Array): RequestVerdict {
  const fields = parseFields(body);
  if (!fields) return no("its body is no JSON that can be written again as it was");
  if (fields.stream !== true) return no("it asked for no stream");
  const asked = forbidden.find((name) => isAsked(fields[name]));
  if (asked !== undefined) return no(`it asked for ${asked}`);
  if (isMoreThan(fields.n, 1) || isMoreThan(fields.best_of, 1)) return no("it asked for choices");
  // Chat says true, completions a number, and 0 means one.
  if (isAsked(fields.logprobs) || fields.logprobs === 0) return no("it asked for logprobs");
  if (isMoreThan(fields.top_logprobs, 0)) return no("it asked for logprobs");
  if (fields.echo === true) return no("it asked for an echo");
  if (fields.include_reasoning === false) return no("its reasoning is hidden");
  const { response_format: format } = fields;
  if (isAsked(format) && (format as Fields).type !== "text") return no("it asked for a format");
  const stops = typeof fields.stop === "string" ? [fields.stop] : fields.stop ?? [];
  if (!Array.isArray(stops) || !stops.every((stop) => typeof stop === "string")) {
    return no("its stop is neither text nor texts");
  }
  if (kind === "chat" ? !hasMessages(fields) : promptOf(fields) === undefined) {
    return no(`its ${kind === "chat" ? "messages" : "prompt"} cannot be extended`);
  }
  const limits = [fields.max_completion_tokens, fields.max_tokens].filter(isNumber);
  return {
    isContinuable: true,
    request: {
      kind,
      fields,
      model: typeof fields.model === "string" ? fields.model : "",
      tokensMax: limits.length > 0 ? Math.min(...limits) : undefined,
      wantsUsage: (fields.stream_options as Fields | null | undefined)?.include_usage === true,
      stops,
    },
  };
}

/** The one text that a completion goes on from; `undefined` for tokens and for several prompts. */
export function promptOf(fields: Fields): string | undefined {
  const { prompt } = fields;
  const only = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  return typeof only === "string" ? only : undefined;
}

/** A conversation whose last message is not already half an answer of some unknown form. */
function hasMessages({ messages, continue_final_message: isBegun }: Fields): boolean {
  if (!Array.isArray(messages) || messages.length === 0) return false;
  if (isBegun !== true) return true;
  const last = messages.at(-1);
  return last?.role === "assistant" && typeof last.content === "string";
}

/** A body that `JSON.stringify` would change in meaning, such as one with a seed of 64 bits, is none. */
function parseFields(body: Uint8Array): Fields | undefined {
  let isExact = true;
  const keepNumbers = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    if (/^-?\d+$/.test(context?.source ?? "")) isExact = false;
    return value;
  };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const value: unknown = JSON.parse(text, keepNumbers);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject && isExact ? value as Fields : undefined;
  } catch {
    return undefined;
  }
}

function isAsked(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return false;
  return !(Array.isArray(value) && value.length === 0);
}

function isMoreThan(value: unknown, least: number): boolean {
  return isNumber(value) && value > least;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function no(why: string): RequestVerdict {
  return { isContinuable: false, why };
}
