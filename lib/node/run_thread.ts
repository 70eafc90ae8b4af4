// How does a node live in its thread?
import { messageOf, OtelaError } from "../base/errors.ts";
import type { ThreadPort } from "../config/thread_port.ts";
import { collectGarbageAtRest } from "../platform/garbage.ts";
import { type Node, startNode } from "./node.ts";

/** Starts a node as the launcher says, and tells it what becomes of it. */
export async function runThread(port: ThreadPort): Promise<void> {
  const { config, places, socketPath, version, tools } = await port.start;
  try {
    const node = await startNode({
      config,
      places,
      socketPath,
      version,
      tools,
      helpers: port.helpers,
      onEvent: (event, fields) => port.post({ type: "event", event, fields }),
      writeLog: writeLine,
    });
    announce(port, node);
    collectGarbageAtRest(() => node.inside.work());
    port.stop.then(({ reason, deadlineMs }) => node.stop(reason, deadlineMs));
    await node.ended;
    port.post({ type: "stopped" });
  } catch (error) {
    const code = error instanceof OtelaError ? error.code : "node_failed";
    port.post({ type: "failed", code, message: messageOf(error) });
  }
}

/** Whole, however little the other end takes at a time; one that has gone is no reason to stop serving. */
function writeLine(line: string): void {
  const bytes = new TextEncoder().encode(line);
  try {
    for (let sent = 0; sent < bytes.length;) sent += Deno.stderr.writeSync(bytes.subarray(sent));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

function announce(port: ThreadPort, node: Node): void {
  port.post({
    type: "ready",
    peerId: node.peerId,
    http: node.http,
    multiaddrs: node.multiaddrs(),
    socketPath: node.socketPath,
  });
}
