// How does a bench get a head and a worker of ours in front of an engine?
import { Child } from "./child.ts";
import { otelaCommand } from "./otela_task.ts";

const readyAfterMsMax = 30_000;
const askAgainAfterMs = 50;

/** What a node prints with `start --json` once it is ready. */
type Ready = { readonly url: string; readonly addresses: readonly string[] };

export type StartedNode = {
  readonly child: Child;
  /** Of the client door. */
  readonly url: string;
  readonly addresses: readonly string[];
  /** From the start of the process to its ready line. */
  readonly readyMs: number;
};

export type Mesh = { readonly head: StartedNode; readonly worker: StartedNode };

/** Starts one node and waits until it is ready. */
export async function startNode(
  stack: AsyncDisposableStack,
  role: "head" | "worker",
  exe: string | undefined,
  args: readonly string[] = [],
): Promise<StartedNode> {
  const stateDir = await Deno.makeTempDir({ prefix: "otela-bench-" });
  stack.defer(() => Deno.remove(stateDir, { recursive: true }));
  const { command, env } = otelaCommand(exe);
  const start = [...command, "start", "--json", "--role", role, "--port", "0", "--tcpport", "0"];
  const startMs = performance.now();
  const child = stack.use(new Child(role, [...start, "--state-dir", stateDir, ...args], env));
  const ready = await child.next<Ready>(readyAfterMsMax);
  const readyMs = performance.now() - startMs;
  child.ignoreOutput();
  return { child, url: ready.url, addresses: ready.addresses, readyMs };
}

/** A head and a worker that offers the engine as `llm`; ready when a chat through both has succeeded. */
export async function startMesh(
  stack: AsyncDisposableStack,
  engineUrl: string,
  exe: string | undefined,
): Promise<Mesh> {
  const head = await startNode(stack, "head", exe);
  const worker = await startNode(stack, "worker", exe, [
    "--service.name",
    "llm",
    "--service.port",
    new URL(engineUrl).port,
    "--bootstrap.addr",
    head.addresses[0],
  ]);
  await untilServed(head.url);
  return { head, worker };
}

/** Where a head takes chats for the service `llm`; the original has the same endpoint. */
export function chatUrl(headUrl: string): string {
  return `${headUrl}/v1/service/llm/v1/chat/completions`;
}

async function untilServed(headUrl: string): Promise<void> {
  const deadlineMs = performance.now() + readyAfterMsMax;
  let last = "";
  while (performance.now() < deadlineMs) {
    const response = await fetch(chatUrl(headUrl), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [] }),
    });
    last = `${response.status} ${await response.text()}`;
    if (response.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, askAgainAfterMs));
  }
  throw new Error(`The head serves no chat after ${readyAfterMsMax} ms: ${last}`);
}
