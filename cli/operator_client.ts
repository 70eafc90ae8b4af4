// How does a command talk to a running node over its operator door?
import { type ErrorCode, messageOf, OtelaError } from "../lib/base/errors.ts";
import { MiB, secondMs } from "../lib/base/units.ts";

/** A node answers from memory; one that is stuck should not hold a script (guess). */
const answerMs = 10 * secondMs;
/** More than any status of a mesh of thousands (guess). */
const answerBytesMax = 32 * MiB;

/** A question to the operator door. */
export type OperatorRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  /** Begins with `/`. */
  readonly path: string;
  readonly body?: unknown;
};

/**
 * Asks and gives the decoded JSON, `null` for an empty answer.
 * @param socketPath The operator door of a node on this host.
 * @throws {OtelaError} `node_unreachable` when nobody answers there; else what the node says, with its code.
 */
export async function askOperator(socketPath: string, request: OperatorRequest): Promise<unknown> {
  using client = Deno.createHttpClient({ proxy: { transport: "unix", path: socketPath } });
  const { method, path, body } = request;
  let response: Response;
  let text: string;
  try {
    response = await fetch(`http://operator${path}`, {
      client,
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(answerMs),
    });
    text = await boundedText(response);
  } catch (error) {
    const message = `Cannot reach the node at ${socketPath}: ${reasonOf(error)}`;
    throw new OtelaError("node_unreachable", message, { cause: error });
  }
  const answer = text === "" ? null : JSON.parse(text);
  if (response.ok) return answer;
  const { type = "", detail, title } = answer as { type?: string; detail?: string; title?: string };
  const code = type.split("/").at(-1) as ErrorCode; // An unknown one gets the general exit code.
  throw new OtelaError(code, detail ?? title ?? `The node answers ${response.status}`);
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > answerBytesMax) {
      throw new Error(`it answers more than ${answerBytesMax} bytes`);
    }
  }
  return text;
}

/** The innermost reason: `fetch` wraps "No such file or directory" in how it got there. */
function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === "TimeoutError") return "it does not answer";
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return messageOf(inner).split(": ").at(-1)!.replace(/ \(os error \d+\)$/, "");
}
