// How do requests arrive that do not wait for each other?

/** What became of one request of a counted load. */
export type ChatOutcome = {
  readonly isStream: boolean;
  /** `truncated`: it began and stopped too soon; `wrong`: other text than the engine says. */
  readonly result: "ok" | "failed" | "truncated" | "wrong";
  readonly ms: number;
  /** When it began, since the load did. */
  readonly atMs: number;
  readonly why: string;
};

/**
 * Begins requests at a fixed rate, whatever becomes of those that run.
 * @param run One request; must not reject.
 */
export async function openLoop<Outcome>(
  { count, perS }: { count: number; perS: number },
  run: (index: number) => Promise<Outcome>,
): Promise<Outcome[]> {
  return await arrive(Array.from({ length: count }, (_, index) => index * 1_000 / perS), run);
}

/**
 * The same at any times.
 * @param timesMs Since the first moment, in order.
 */
export async function arrive<Outcome>(
  timesMs: readonly number[],
  run: (index: number) => Promise<Outcome>,
): Promise<Outcome[]> {
  const startMs = performance.now();
  const running: Promise<Outcome>[] = [];
  for (const [index, atMs] of timesMs.entries()) {
    const waitMs = startMs + atMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.push(run(index));
  }
  return await Promise.all(running);
}

/** A chat of the deterministic engine: what is asked, and every word of the answer. */
export function askedAndAnswered(index: number, words: number): { question: string; text: string } {
  const question = Array.from({ length: words }, (_, at) => `w${index}.${at}`).join(" ");
  return { question, text: `You said: ${question}` };
}

/** Asks one head for one chat and compares the answer with what the engine says. */
export async function checkedChat(
  headUrl: string,
  index: number,
  { words, isStream, deadlineMs }: { words: number; isStream: boolean; deadlineMs: number },
  startMs: number,
): Promise<ChatOutcome> {
  const { question, text } = askedAndAnswered(index, words);
  const beganMs = performance.now();
  let result: ChatOutcome["result"] = "failed";
  let why = "";
  try {
    const response = await fetch(`${headUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      signal: AbortSignal.timeout(deadlineMs),
      body: JSON.stringify({
        model: "m",
        messages: [{ role: "user", content: question }],
        stream: isStream,
      }),
    });
    const body = await response.text().catch((error) => {
      result = "truncated";
      throw error;
    });
    if (response.status !== 200) why = `${response.status} ${body.slice(0, 200)}`;
    else if (isStream) ({ result, why } = judgeStream(body, text));
    else {
      const said = JSON.parse(body).choices[0].message.content;
      result = said === text ? "ok" : "wrong";
    }
  } catch (error) {
    why = String(error);
  }
  const nowMs = performance.now();
  return { isStream, result, ms: nowMs - beganMs, atMs: beganMs - startMs, why };
}

function judgeStream(body: string, text: string): { result: ChatOutcome["result"]; why: string } {
  const events = body.split("\n\n").filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6));
  const isDone = events.at(-1) === "[DONE]";
  const chunks = events.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data));
  const error = chunks.find((chunk) => chunk.error)?.error;
  const said = chunks.flatMap((chunk) => chunk.choices ?? [])
    .map((choice) => choice.delta?.content ?? "").join("");
  if (error) return { result: "truncated", why: error.message };
  if (!isDone) return { result: "truncated", why: "no [DONE]" };
  const ids = new Set(chunks.map(({ id }) => id));
  const isRight = said === text && ids.size === 1;
  return { result: isRight ? "ok" : "wrong", why: isRight ? "" : said.slice(0, 200) };
}
