// What does the node thread run?
//
// Everything else is imported after the line to the launcher is open: see `openThreadPort`.
import { openThreadPort } from "../config/thread_port.ts";

const port = openThreadPort(self as unknown as Parameters<typeof openThreadPort>[0]);
const { runThread } = await import("./run_thread.ts");
await runThread(port);
