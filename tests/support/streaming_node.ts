// How does a test do something to a node in the middle of a long answer?
import { startEngine } from "./engine.ts";
import { type NodeProcess, startNode } from "./node_process.ts";

/** Long enough that whatever a test does comes in its middle. */
const tokens = 60;
const intervalMs = 25;

/** A node with a service of its own, its client in the middle of a streamed answer. */
export type StreamingNode = {
  readonly node: NodeProcess;
  readonly home: string;
  /** What still comes of the answer; what came before it broke, when it breaks. */
  readonly rest: Promise<string>;
};

/** @param args Added to those of `start`. */
export async function whileStreaming(
  use: (streaming: StreamingNode) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  const engine = startEngine({ models: ["tiny"] });
  try {
    await using node = await startNode({
      home,
      args: [
        ...["--service.name", "llm", "--service.url", engine.url],
        ...["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1", ...args],
      ],
    });
    while (!(await (await fetch(`${node.http}/v1/models`)).text()).includes("tiny"));
    const response = await fetch(`${node.http}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "tiny",
        stream: true,
        messages: [{ role: "user", content: "count" }],
        x_engine: { tokens, intervalMs },
      }),
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    await use({ node, home, rest: readAll(reader) });
  } finally {
    await engine.stop();
    await Deno.remove(home, { recursive: true });
  }
}

async function readAll(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  } catch {
    return text;
  }
}
