// Which text may name a service?
import { OtelaError } from "../base/errors.ts";

/** Rule of the reference, kept: names of existing meshes stay valid. At most 80 characters. */
const shape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/**
 * Says whether a text may name a service. Names are exact: no trimming, no case folding.
 * @param text Untrusted, of any length.
 */
export function isServiceName(text: string): boolean {
  return shape.test(text);
}

/**
 * A text from outside as the name of a service.
 * @param text Untrusted; quoted in the error, cut to 100 characters.
 * @throws {OtelaError} `bad_request` when the text breaks the rule.
 */
export function parseServiceName(text: string): string {
  if (isServiceName(text)) return text;
  throw new OtelaError(
    "bad_request",
    `Cannot use a service name as it must have 1 to 80 letters, digits, ".", "_" or "-" and begin ` +
      `with a letter or digit: got "${text.slice(0, 100)}"`,
  );
}
