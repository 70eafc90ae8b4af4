// Is the text the same as when somebody last looked at it?
import { equal, fail } from "node:assert/strict";

/** `deno task golden` sets this: then files are written in place of compared. */
const writeWith = "OTELA_GOLDEN";

/**
 * Compares a text with `tests/golden/<name>`. `deno task golden` writes the file anew; its difference is then read
 * like code. Tests that call this are named `…_golden_test.ts`, stand outside the core's unit tests (they read a
 * file), and give the same text on every machine.
 * @throws {AssertionError} When the text differs or nobody has written the file yet.
 */
export async function expectGolden(name: string, actual: string): Promise<void> {
  const file = new URL(`../golden/${name}`, import.meta.url);
  if (Deno.env.get(writeWith) === "write") return await Deno.writeTextFile(file, actual);
  let expected: string;
  try {
    expected = await Deno.readTextFile(file);
  } catch (error) {
    fail(`There is no tests/golden/${name} (write it with: deno task golden): ${error}`);
  }
  equal(actual, expected, `tests/golden/${name} differs (if it should: deno task golden)`);
}
