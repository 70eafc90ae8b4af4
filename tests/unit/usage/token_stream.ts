// How do engines stream an answer, in each of the shapes that were seen?
import type { CompletionKind } from "../../../lib/usage/completion_request.ts";

/** Where usage comes: never, in an event of its own, with the reason, or in every event. */
export type UsageShape = "none" | "own" | "last" | "every";

/** An engine that says the same tokens to everybody. */
export type TokenEngine = {
  readonly kind: CompletionKind;
  readonly id: string;
  readonly tokens: readonly string[];
  readonly shape: UsageShape;
};

type Fields = Record<string, unknown>;

export const promptTokens = 5;

/** The events of its answer to a request, as text; it goes on from the text that the request ends with. */
export function answer({ kind, id, tokens, shape }: TokenEngine, request: Fields): string[] {
  const begun = begunOf(kind, request);
  const saidCount = countIn(tokens, begun);
  const most = (request.max_tokens ?? Infinity) as number;
  const rest = tokens.slice(saidCount, saidCount + most);
  // The end is a token of its own, for which there must be room.
  const reason = rest.length === most ? "length" : "stop";
  const usage = (count: number) => {
    const prompt = promptTokens + saidCount;
    return { prompt_tokens: prompt, completion_tokens: count, total_tokens: prompt + count };
  };
  const event = (choices: unknown[], used?: Fields) =>
    `data: ${
      JSON.stringify({ id, created: 1, model: `of ${id}`, choices, ...(used && { usage: used }) })
    }\n\n`;
  const choice = (text: string, finish: string | null) =>
    kind === "chat"
      ? { index: 0, delta: finish ? {} : { content: text }, logprobs: null, finish_reason: finish }
      : { index: 0, text, finish_reason: finish };
  const every = (count: number) => shape === "every" ? usage(count) : undefined;
  const opening = { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null };
  const last = shape === "last" || shape === "every" ? usage(rest.length) : undefined;
  return [
    ...(kind === "chat" ? [event([opening], every(0))] : []),
    ...rest.map((token, index) => event([choice(token, null)], every(index + 1))),
    event([choice("", reason)], last),
    ...(shape === "own" ? [event([], usage(rest.length))] : []),
    "data: [DONE]\n\n",
  ];
}

function begunOf(kind: CompletionKind, request: Fields): string {
  if (kind === "text") return String(request.prompt).slice("Once".length);
  const last = (request.messages as Fields[]).at(-1)!;
  return request.continue_final_message === true ? String(last.content) : "";
}

/** How many tokens make up the text; one that ends within a token breaks the test. */
function countIn(tokens: readonly string[], text: string): number {
  let count = 0;
  let length = 0;
  while (length < text.length) length += tokens[count++].length;
  if (tokens.slice(0, count).join("") !== text) throw new Error(`Nobody said "${text}"`);
  return count;
}
