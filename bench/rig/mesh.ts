// How does a bench get a head and a worker of ours in front of an engine?
import {
  nodeEnvironment,
  type ReadyLine,
  sourceCommand,
} from "../../tests/support/node_process.ts";
import { Program } from "../../tests/support/program.ts";

const readyAfterMsMax = 30_000;
const askAgainAfterMs = 50;

export type StartedNode = {
  readonly pid: number;
  /** URL of the client door. */
  readonly url: string;
  readonly multiaddrs: readonly string[];
  /** From the start of the process to its ready line. */
  readonly readyMs: number;
};

export type Mesh = { readonly head: StartedNode; readonly worker: StartedNode };

/** Where the nodes run when not simply here. */
export type Places = {
  /** Commands before ours. */
  readonly head: readonly string[];
  readonly worker: readonly string[];
  /** Beginning of the head's multiaddr at which the worker finds it. */
  readonly headAddress: string;
};

const here: Places = { head: [], worker: [], headAddress: "/ip4/127.0.0.1/" };

/** A head and a worker that offers the engine as `llm`; returns when a chat through both has succeeded. */
export async function startMesh(
  stack: AsyncDisposableStack,
  engineUrl: string,
  exe: string | undefined,
): Promise<Mesh> {
  const mesh = await startNodes(stack, engineUrl, exe, here);
  await untilServed(mesh.head.url);
  return mesh;
}

/** The same at any places; the worker is ready, but may not yet be known to the head. */
export async function startNodes(
  stack: AsyncDisposableStack,
  engineUrl: string,
  exe: string | undefined,
  places: Places,
): Promise<Mesh> {
  const own = exe === undefined ? sourceCommand() : [exe];
  const head = await startNode(stack, exe, [...places.head, ...own], ["--role=head"]);
  const address = head.multiaddrs.find((address) => address.startsWith(places.headAddress));
  const worker = await startNode(stack, exe, [...places.worker, ...own], [
    "--role=worker",
    "--service.name=llm",
    `--service.port=${new URL(engineUrl).port}`,
    `--bootstrap.addr=${address ?? head.multiaddrs[0]}`,
  ]);
  return { head, worker };
}

/** Where a head takes chats for the service `llm`; the original has the same endpoint. */
export function chatUrl(headUrl: string): string {
  return `${headUrl}/v1/service/llm/v1/chat/completions`;
}

/** Starts one node in an empty home and waits until it is ready. */
async function startNode(
  stack: AsyncDisposableStack,
  exe: string | undefined,
  command: readonly string[],
  options: readonly string[],
): Promise<StartedNode> {
  const home = await Deno.makeTempDir({ prefix: "otela-bench-" });
  stack.defer(() => Deno.remove(home, { recursive: true }));
  const args = ["start", "--json", "--port=0", "--tcpport=0", ...options];
  const startMs = performance.now();
  const program = stack.use(
    new Program({
      command: command[0],
      args: [...command.slice(1), ...args],
      env: exe === undefined ? nodeEnvironment(home) : bareEnvironment(home),
      cwd: home,
    }),
  );
  try {
    const ready = await program.stdout.waitFor(parseReady, readyAfterMsMax);
    const readyMs = performance.now() - startMs;
    return { pid: program.pid, url: ready.http, multiaddrs: ready.multiaddrs, readyMs };
  } catch (error) {
    throw new Error(`${options[0]} is not ready: ${program.stderr.lastLine}`, { cause: error });
  }
}

/** An executable gets nothing of Deno's. */
function bareEnvironment(home: string): Record<string, string> {
  return { HOME: home, XDG_RUNTIME_DIR: home, PATH: Deno.env.get("PATH") ?? "" };
}

function parseReady(line: string): ReadyLine | undefined {
  const event: ReadyLine = JSON.parse(line);
  return event.event === "ready" ? event : undefined;
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
