// Which processes does every bench need?
import { sourceCommand } from "../../tests/support/node_process.ts";
import { Child } from "./child.ts";
import { farAddress } from "./wide_area.ts";

const startAfterMsMax = 10_000;

/** Loopback, and for `bench wan` the link that it makes. */
const ownAddresses = `127.0.0.1,0.0.0.0,${farAddress}`;

/** A started process and where it listens. */
export type Listening = { readonly child: Child; readonly url: string };

/** How an engine streams. */
export type StreamShape = { readonly eventCount: number; readonly intervalMs: number };

/** The stream of `bench stream`: 64 tokens at 50 a second. */
export const tokenStream: StreamShape = { eventCount: 64, intervalMs: 20 };

/** The engine behind every target: 270 bytes for a chat, or a stream of the shape given. */
export async function startEngine(
  stack: AsyncDisposableStack,
  shape: StreamShape = tokenStream,
): Promise<Listening> {
  return await startListening(stack, "engine", "../../tests/support/engine.ts", [
    "--bench",
    "--json",
    "--models=m",
    `--tokens=${shape.eventCount}`,
    `--interval=${shape.intervalMs}`,
  ]);
}

/** An engine for large bodies (`bench/bulk_engine.ts`). @param inside Command before ours, to run it elsewhere. */
export async function startBulkEngine(
  stack: AsyncDisposableStack,
  inside: readonly string[] = [],
  hostname = "127.0.0.1",
): Promise<Listening> {
  return await startListening(stack, "engine", "../bulk_engine.ts", [hostname], inside);
}

/** The yardstick in front of `engineUrl`. */
export async function startPlainProxy(
  stack: AsyncDisposableStack,
  engineUrl: string,
): Promise<Listening> {
  return await startListening(stack, "plain proxy", "../plain_proxy.ts", [engineUrl]);
}

/** The load process; it takes jobs (`bench/load/job.ts`). @param inside Command before ours, to run it elsewhere. */
export async function startLoad(
  stack: AsyncDisposableStack,
  inside: readonly string[] = [],
): Promise<Child> {
  const child = stack.use(new Child("load", [...inside, ...script("../load/main.ts")]));
  await child.next(startAfterMsMax);
  return child;
}

async function startListening(
  stack: AsyncDisposableStack,
  name: string,
  file: string,
  args: readonly string[],
  inside: readonly string[] = [],
): Promise<Listening> {
  const child = stack.use(new Child(name, [...inside, ...script(file), ...args]));
  const { url } = await child.next<{ url: string }>(startAfterMsMax);
  child.ignoreOutput();
  return { child, url };
}

/** A file of ours under the V8 flags of the product, so that nobody has an advantage by them. */
function script(file: string): string[] {
  const v8Flags = sourceCommand().filter((word) => word.startsWith("--v8-flags="));
  const path = new URL(file, import.meta.url).pathname;
  return [Deno.execPath(), "run", "--no-prompt", `--allow-net=${ownAddresses}`, ...v8Flags, path];
}
