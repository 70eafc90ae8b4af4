// How does a node thread end badly? In the way that its environment's FATE says.
import { openThreadPort } from "../../../lib/config/thread_port.ts";

// As a thread that takes its time to load: what was sent before now is lost.
await new Promise((resolve) => setTimeout(resolve, 0));
const port = openThreadPort(self as never);
const { environment } = await port.start;
const ready = { peerId: "peer", http: "http://127.0.0.1:1", multiaddrs: [], socketPath: "/s" };

switch (environment.FATE) {
  case "refused":
    port.post({ type: "failed", code: "port_busy", message: "Cannot listen on port 80" });
    break;
  case "broken":
    port.post({ type: "ready", ...ready });
    throw new Error("the node has a fault");
  case "stuck":
    port.post({ type: "ready", ...ready });
    await port.stop;
    port.post({ type: "event", event: "node.stuck", fields: {} });
    break; // Never says that it has stopped.
  case "obedient":
    port.post({ type: "ready", ...ready });
    await port.stop;
    port.post({ type: "stopped" });
}
