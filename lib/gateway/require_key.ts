// May this client enter?
import { bearerOf, type ClientKey, type ClientKeys } from "../access/client_keys.ts";
import { OtelaError } from "../base/errors.ts";

/**
 * Refuses a request without a key of this node.
 * @param authorization `Bearer <key>`, as OpenAI's clients send it; empty when absent.
 * @param apiKey `x-api-key`, as Anthropic's clients send it; empty when absent.
 * @returns The key; its label may be logged.
 * @throws {OtelaError} `unauthorized`; says whether a key is missing or wrong, never the key.
 */
export function requireKey(keys: ClientKeys, authorization: string, apiKey: string): ClientKey {
  const token = bearerOf(authorization) ?? apiKey;
  const key = token === "" ? undefined : keys.find(token);
  if (key) return key;
  throw new OtelaError(
    "unauthorized",
    token === ""
      ? 'Cannot serve the request as it must carry a key: "Authorization: Bearer …" is missing'
      : "Cannot serve the request as its key must be one of this node's: it is not",
  );
}
