// How does a bench get two places on one machine with a long way between them?
import { messageOf } from "../../lib/base/errors.ts";
import { Child } from "./child.ts";

/** Of the far place, as the near one sees it; `delay.py` gives it. */
export const farAddress = "10.20.0.2";
/** Of the near place. */
export const nearAddress = "10.20.0.1";

const startAfterMsMax = 5_000;

/** Two network namespaces with a link of their own, each a command to put before another. */
export type WideArea = { readonly near: readonly string[]; readonly far: readonly string[] };

/**
 * Makes the places; they go with the stack, or with this process, however it ends.
 * @param oneWayMs Delay of every packet.
 * @throws {Error} When this machine cannot have them.
 */
export async function makeWideArea(
  stack: AsyncDisposableStack,
  oneWayMs: number,
): Promise<WideArea> {
  const missing = await whatIsMissing();
  if (missing !== undefined) throw new Error(`not measurable here, as it needs ${missing}`);
  const script = new URL("delay.py", import.meta.url).pathname;
  const link = stack.use(new Child("delay.py", ["python3", script, String(oneWayMs)]));
  const { near, far } = await link.next<Record<"near" | "far", string>>(startAfterMsMax).catch(
    (error) => {
      throw new Error(`not measurable here: ${messageOf(error)}`);
    },
  );
  return { near: ["nsenter", `--net=${near}`], far: ["nsenter", `--net=${far}`] };
}

async function whatIsMissing(): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "Linux";
  if (Deno.uid() !== 0) return "root";
  for (const [command, argument] of [["ip", "-V"], ["nsenter", "-V"], ["python3", "-V"]]) {
    if (!await doesRun(command, argument)) return `the command ${command}`;
  }
}

async function doesRun(command: string, argument: string): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args: [argument] }).output()).success;
  } catch {
    return false;
  }
}
