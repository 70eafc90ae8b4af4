// Which processes does every bench need?
import { Child } from "./child.ts";
import { otelaTask } from "./otela_task.ts";

const startAfterMsMax = 10_000;

/** A started process and where it listens. */
export type Listening = { readonly child: Child; readonly url: string };

/** The engine behind every target. */
export async function startEngine(stack: AsyncDisposableStack): Promise<Listening> {
  return await startListening(stack, "engine", "../engine.ts");
}

/** The yardstick in front of `engineUrl`. */
export async function startPlainProxy(
  stack: AsyncDisposableStack,
  engineUrl: string,
): Promise<Listening> {
  return await startListening(stack, "plain proxy", "../plain_proxy.ts", engineUrl);
}

/** The load process; it takes jobs (`bench/load/job.ts`). */
export async function startLoad(stack: AsyncDisposableStack): Promise<Child> {
  const child = stack.use(new Child("load", script("../load/main.ts")));
  await child.next(startAfterMsMax);
  return child;
}

async function startListening(
  stack: AsyncDisposableStack,
  name: string,
  file: string,
  ...args: string[]
): Promise<Listening> {
  const child = stack.use(new Child(name, [...script(file), ...args]));
  const { url } = await child.next<{ url: string }>(startAfterMsMax);
  child.ignoreOutput();
  return { child, url };
}

/** A file of ours under the V8 flags of the product, so that nobody has an advantage by them. */
function script(file: string): string[] {
  const v8Flags = otelaTask().flags.filter((flag) => flag.startsWith("--v8-flags="));
  const path = new URL(file, import.meta.url).pathname;
  return [Deno.execPath(), "run", "--no-prompt", "--allow-net=127.0.0.1", ...v8Flags, path];
}
