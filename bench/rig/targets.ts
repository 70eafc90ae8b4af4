// Whom does a bench compare?
import type { LoadAnswer, LoadJob } from "../load/job.ts";
import type { Child } from "./child.ts";
import { chatUrl, startMesh } from "./mesh.ts";
import type { BenchOptions } from "./options.ts";
import { startEngine, startLoad, startPlainProxy } from "./processes.ts";
import { startReference } from "./reference.ts";

/** A load process and the chat endpoint of each target: `direct`, `plain`, `mesh` and maybe `original`. */
export type Targets = {
  readonly load: Child;
  readonly engineUrl: string;
  readonly urls: Readonly<Record<string, string>>;
};

const answerAfterMsMax = 180_000;

/** Starts one engine and every way to it, each part in a process of its own. */
export async function startTargets(
  stack: AsyncDisposableStack,
  options: BenchOptions,
): Promise<Targets> {
  const load = await startLoad(stack);
  const engine = await startEngine(stack);
  const plain = await startPlainProxy(stack, engine.url);
  const mesh = await startMesh(stack, engine.url, options.exe);
  const path = "/v1/chat/completions";
  const urls: Record<string, string> = {
    direct: engine.url + path,
    plain: plain.url + path,
    mesh: chatUrl(mesh.head.url),
  };
  if (options.reference !== undefined) {
    urls.original = chatUrl(await startReference(stack, options.reference, engine.url));
  }
  return { load, engineUrl: engine.url, urls };
}

/** Lets the load process do one job. @throws {Error} When it cannot. */
export async function runJob<Result>(load: Child, job: LoadJob): Promise<Result> {
  const answer = await load.ask<LoadAnswer<Result>>(job, answerAfterMsMax);
  if ("error" in answer) throw new Error(answer.error);
  return answer.result;
}
