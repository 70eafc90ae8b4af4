// Which models does an engine list?
import { OtelaError } from "../base/errors.ts";

/** An answer of `/v1/models`, reduced to what matters. */
export type ModelList = {
  /** Model ids, sorted, each once. */
  readonly models: readonly string[];
  /** Who is said to own the first model: engines put their own name there. Empty when nobody. */
  readonly ownedBy: string;
};

/** More models than a claim can hold several times over. Guess. */
const modelsMax = 4_096;

/**
 * Reads `{"data":[{"id":"…","owned_by":"…"}]}`.
 * @param value Parsed JSON, untrusted. Entries without a text as id are left out.
 * @throws {OtelaError} `worker_failed` when there is no list, or one beyond any honest size.
 */
export function parseModelList(value: unknown): ModelList {
  const data = (value as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length > modelsMax) {
    throw new OtelaError(
      "worker_failed",
      `Cannot read the model list as "data" must be a list of at most ${modelsMax} models: got ${
        Array.isArray(data) ? data.length : typeof data
      }`,
    );
  }
  const entries = data.filter((entry) => typeof entry?.id === "string" && entry.id !== "");
  const ownedBy = entries[0]?.owned_by;
  return {
    models: [...new Set<string>(entries.map((entry) => entry.id))].sort(),
    ownedBy: typeof ownedBy === "string" ? ownedBy : "",
  };
}
