// Do texts of a real engine stay the same when its worker is killed in the middle of them?
import type { ReadyLine } from "../tests/support/node_process.ts";
import { type NodeProcess, startNode } from "../tests/support/node_process.ts";
import { onLoopback } from "../tests/support/process_mesh.ts";
import type { Llama } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const streamCount = 40;
const tokensMax = 40;
/** Slots of a server; the head gives it no more, so most streams wait for their turn. */
const slots = 4;
const deadlineMs = 240_000;

/** One stream as its client heard it. */
type Heard = { readonly text: string; readonly isWhole: boolean; readonly ids: number };

/**
 * Two unbroken runs of the same load tell how much a real engine differs from itself, since its batches differ;
 * then a worker is killed in the middle of the third.
 */
export async function benchKillLlama(llama: Llama, report: Report): Promise<void> {
  for (const [option, path] of [["server", llama.server], ["model", llama.model]]) {
    if (!path.includes("/")) continue;
    await Deno.stat(path).catch(() => {
      const variable = `OTELA_LLAMA_${option.toUpperCase()}`;
      throw new Error(`--llama-${option} or ${variable} must name a file: there is no "${path}"`);
    });
  }
  const runs: Heard[][] = [];
  let continued = 0;
  for (const isKilled of [false, false, true]) {
    await using stack = new AsyncDisposableStack();
    const { head, kill, ask } = await startLlamas(stack, llama);
    let pieces = 0;
    const onPiece = isKilled
      // A quarter of all text: four streams of the worker are in the middle.
      ? () => ++pieces === streamCount * tokensMax / 4 && kill()
      : () => {};
    const all = Array.from({ length: streamCount }, (_, index) => ask(index, onPiece));
    runs.push(await Promise.all(all));
    if (isKilled) continued = await continuedAt(head.http);
  }
  const [first, second, broken] = runs;
  const differing = (a: Heard[], b: Heard[]) =>
    a.filter(({ text }, at) => text !== b[at].text).length;
  const truncated = broken.filter(({ isWhole }) => !isWhole).length;
  const difference = Math.min(differing(broken, first), differing(broken, second));
  const unbroken = differing(first, second);
  report.row({
    streams: streamCount,
    continued,
    truncated,
    differ: difference,
    unbroken_differ: unbroken,
  });
  report.judge("continued", continued, ">=", 1);
  report.judge("truncated", truncated, "=", 0);
  report.judge("texts that differ", difference, "<=", Math.max(unbroken, 0));
}

async function startLlamas(stack: AsyncDisposableStack, llama: Llama) {
  const home = await Deno.makeTempDir({ prefix: "otela-bench-" });
  stack.defer(() => Deno.remove(home, { recursive: true }));
  const startIn = async (name: string, args: readonly string[]) => {
    await Deno.mkdir(`${home}/${name}`);
    return stack.use(await startNode({ home: `${home}/${name}`, args: [...onLoopback, ...args] }));
  };
  const head = await startIn("head", ["--role", "head", "--routing.queue_wait", "4m"]);
  const join = ["--bootstrap.source", head.multiaddrs[0]];
  const workers: NodeProcess[] = [];
  for (const name of ["one", "two"]) {
    const port = freePort();
    const child = new Deno.Command(llama.server, {
      args: [
        ...["-m", llama.model, "--host", "127.0.0.1", "--port", String(port), "-c", "4096"],
        ...["--alias", "m", "-np", String(slots), "-t", "1"],
      ],
      stdout: "null",
      stderr: "null",
    }).spawn();
    stack.defer(async () => {
      child.kill("SIGKILL");
      await child.status;
    });
    const service = ["--service.name", "llm", "--service.port", String(port)];
    workers.push(await startIn(name, [...join, ...service]));
  }
  await untilListed(head.http, workers.length);
  const ask = (index: number, onPiece: () => void) => hear(head.http, index, onPiece);
  return { head, kill: () => workers[0].program.signal("SIGKILL"), ask };
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function untilListed(headUrl: ReadyLine["http"], count: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const { data } = await (await fetch(`${headUrl}/v1/models`)).json();
    if (data[0]?.otela.peers.length === count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("The head does not list both servers");
}

async function hear(headUrl: string, index: number, onPiece: () => void): Promise<Heard> {
  const question = `Tell me ${index + 2} things about the number ${index * 7 + 3}.`;
  const response = await fetch(`${headUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    signal: AbortSignal.timeout(deadlineMs),
    body: JSON.stringify({
      model: "m",
      messages: [{ role: "user", content: question }],
      stream: true,
      temperature: 0,
      max_tokens: tokensMax,
    }),
  });
  let raw = "";
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      raw += chunk;
      onPiece();
    }
  } catch {
    return { text: raw, isWhole: false, ids: 0 };
  }
  const events = raw.split("\n\n").filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6));
  const chunks = events.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data));
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  const reasons = choices.filter((choice) => choice.finish_reason).length;
  return {
    text: choices.map((choice) => choice.delta?.content ?? "").join(""),
    isWhole: response.status === 200 && events.at(-1) === "[DONE]" && reasons === 1,
    ids: new Set(chunks.map(({ id }) => id)).size,
  };
}

async function continuedAt(headUrl: string): Promise<number> {
  const text = await (await fetch(`${headUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) =>
    line.startsWith("otela_stream_continuations_total{") && line.includes("continued")
  );
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
