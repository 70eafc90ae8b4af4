// How is a row of checks run, told and counted?

/** One command whose exit code decides. */
export type Step = {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Tests, and each step that is no test run as one. */
export type Total = { readonly passed: number; readonly failed: number };

/** How many characters of a failed step are told again at the end (guess: some ten failures). */
const toldAgainCharsMax = 20_000;

/**
 * Runs the steps in turn, a failed one included, and shows what they print. Ends with the failures once more
 * and the line `N passed, N failed`.
 * @returns 0 when nothing failed, else 1: the exit code.
 */
export async function runSteps(steps: readonly Step[]): Promise<number> {
  const totals: Total[] = [];
  const failures: string[] = [];
  for (const step of steps) {
    console.log(`\n## ${step.name}`);
    const startMs = performance.now();
    const { isOk, output } = await run(step);
    const total = countOf(output, isOk);
    totals.push(total);
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    console.log(`## ${step.name}: ${isOk ? "ok" : "FAILED"} in ${seconds} s`);
    if (total.failed > 0) failures.push(`\n## Failed: ${step.name}\n${failingPart(output)}`);
  }
  for (const failure of failures) console.log(failure);
  const { passed, failed } = sum(totals);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/**
 * What one step counts for: its tests as the closing lines of `deno test` say, or one when it has none.
 * A step that fails without a failed test (it did not compile, it was killed) counts as one failure besides.
 */
export function countOf(output: string, isOk: boolean): Total {
  const closings = [
    ...output.matchAll(/^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed/gm),
  ];
  const { passed, failed } = sum(
    closings.map((match) => ({ passed: Number(match[1]), failed: Number(match[2]) })),
  );
  if (isOk) return { passed: closings.length > 0 ? passed : 1, failed };
  return { passed, failed: Math.max(failed, 1) };
}

/** From where `deno test` lists its errors on; the end of anything else. */
export function failingPart(output: string): string {
  const errorsAt = output.lastIndexOf("\n ERRORS \n");
  const part = errorsAt >= 0 ? output.slice(errorsAt) : output;
  return part.length <= toldAgainCharsMax ? part : `…${part.slice(-toldAgainCharsMax)}`;
}

function sum(totals: readonly Total[]): Total {
  return totals.reduce(
    (all, { passed, failed }) => ({ passed: all.passed + passed, failed: all.failed + failed }),
    { passed: 0, failed: 0 },
  );
}

async function run({ command, env }: Step): Promise<{ isOk: boolean; output: string }> {
  const child = new Deno.Command(command[0], {
    args: command.slice(1),
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const show = async (
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    to: { writeSync(bytes: Uint8Array): number },
  ) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      output += decoder.decode(bytes, { stream: true });
      for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
    }
  };
  const [status] = await Promise.all([
    child.status,
    show(child.stdout, Deno.stdout),
    show(child.stderr, Deno.stderr),
  ]);
  return { isOk: status.success, output };
}
