// How does a second engine's stream become the rest of the first one's?
import { readCompletionEvent } from "./completion_chunk.ts";
import type { CompletionRequest } from "./completion_request.ts";
import type { CompletionLog, StreamNames } from "./completion_log.ts";
import type { ContinuationPlan } from "./continuation.ts";
import { SseParser } from "./sse_parser.ts";

type Fields = Record<string, unknown>;

/** What of the stream so far the rest must agree with. */
export type SpliceFacts = {
  readonly plan: Omit<ContinuationPlan, "body">;
  readonly names: StreamNames | undefined;
  readonly finishReason: string | null;
  /** As the first engine said; `undefined` when it did not. */
  readonly promptTokens: number | undefined;
  /** The client has seen the first event of an answer. */
  readonly isOpened: boolean;
};

/** Of a log that was read. */
export function spliceFactsOf(
  log: CompletionLog,
  plan: ContinuationPlan,
): SpliceFacts {
  const { names, finishReason, isOpened } = log;
  return { plan, names, finishReason, promptTokens: log.usage?.promptTokens, isOpened };
}

/**
 * Rewrites the events of an engine that goes on, so that the client sees one answer: the names of the first
 * events, no second opening, no text twice, all tokens in the usage. Events that it does not understand pass
 * unchanged.
 */
export class Splice {
  private readonly parser = new SseParser();
  /** Blanks that the client has and the engine says again. */
  private blanksLeft: string;
  private hasFinished: boolean;

  constructor(private readonly request: CompletionRequest, private readonly facts: SpliceFacts) {
    this.blanksLeft = facts.plan.blanks;
    this.hasFinished = facts.finishReason !== null;
  }

  /** @param events Whole events. @returns What the client gets of them, maybe nothing. */
  rewrite(events: Uint8Array): string {
    let rewritten = "";
    for (const { data, type } of this.parser.push(events)) {
      const kept = this.event(data);
      if (kept === undefined) continue;
      rewritten += type === "message" ? `data: ${kept}\n\n` : `event: ${type}\ndata: ${kept}\n\n`;
    }
    return rewritten;
  }

  private event(data: string): string | undefined {
    const event = readCompletionEvent(this.request.kind, data);
    // Every line of an event's data has its own field.
    if (event.type === "unknown") return data.replaceAll("\n", "\ndata: ");
    if (event.type === "done") return data;
    const { fields, choice, text, finishReason, usage } = event.chunk;
    this.rename(fields);
    if (usage) this.addUsage(fields);
    const said = this.unsaid(text);
    const reason = this.reasonOf(finishReason);
    if (choice) {
      setText(this.request.kind, choice, said, this.facts.isOpened);
      choice.finish_reason = reason;
    }
    // An opening of its own is left out, and so is what has nothing new; a usage on the way is worth nothing alone.
    const isLastUsage = usage !== undefined && finishReason !== null;
    const isEmpty = choice !== undefined && said === "" && reason === null && !isLastUsage;
    if (isEmpty && (this.facts.isOpened || text !== "")) return undefined;
    return JSON.stringify(fields);
  }

  private rename(fields: Fields): void {
    const { names } = this.facts;
    if (!names) return;
    fields.id = names.id;
    fields.created = names.created;
    fields.model = names.model;
    if (names.fingerprint === undefined) delete fields.system_fingerprint;
    else fields.system_fingerprint = names.fingerprint;
  }

  /** What of a text the client does not have yet. */
  private unsaid(text: string): string {
    if (this.facts.plan.isTextOver) return "";
    let same = 0;
    while (same < this.blanksLeft.length && text[same] === this.blanksLeft[same]) same++;
    if (text.length === 0) return "";
    // The engine need not say the same blanks; what differs is new.
    this.blanksLeft = same === text.length ? this.blanksLeft.slice(same) : "";
    return text.slice(same);
  }

  /** The one reason of the whole answer. */
  private reasonOf(reason: string | null): string | null {
    if (reason === null || this.hasFinished) return null;
    this.hasFinished = true;
    return this.facts.plan.isTextOver ? "length" : reason;
  }

  private addUsage(fields: Fields): void {
    const { promptTokens, plan } = this.facts;
    const usage = fields.usage as Fields;
    const own = plan.isTextOver ? 0 : Number(usage.completion_tokens);
    const completion = plan.tokenCount + own;
    // The engine counts the text so far among its prompt.
    const prompt = promptTokens ?? Math.max(0, Number(usage.prompt_tokens) - plan.sentCount);
    usage.prompt_tokens = prompt;
    usage.completion_tokens = completion;
    usage.total_tokens = prompt + completion;
  }
}

function setText(kind: "chat" | "text", choice: Fields, text: string, isOpened: boolean): void {
  if (kind === "text") {
    choice.text = text;
    return;
  }
  const delta = choice.delta as Fields | undefined;
  if (!delta) return;
  if (isOpened) delete delta.role;
  if (typeof delta.content === "string") delta.content = text;
}
