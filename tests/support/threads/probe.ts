// What is a thread with the permissions of a node really refused? Runs in place of a node's thread.
import { messageOf } from "../../../lib/base/errors.ts";
import { openThreadPort } from "../../../lib/config/thread_port.ts";

/** Answers whether each thing worked: `allowed`, or why not. */
type Trials = Record<string, () => unknown>;

const port = openThreadPort(self as never);
const { environment: { HOME: home }, places: { instanceDir: state } } = await port.start;

const trials: Trials = {
  shell: () => new Deno.Command("/bin/sh", { args: ["-c", "true"] }).outputSync(),
  shellByName: () => new Deno.Command("sh", { args: ["-c", "true"] }).outputSync(),
  self: () => new Deno.Command(Deno.execPath(), { args: ["--version"] }).outputSync(),
  sshKey: () => Deno.readTextFileSync(`${home}/.ssh/id_ed25519`),
  passwords: () => Deno.readTextFileSync("/etc/passwd"),
  foreignWrite: () => Deno.writeTextFileSync(`${home}/.bashrc`, "mine now"),
  sourceWrite: () => Deno.writeTextFileSync(new URL("./probe.ts", import.meta.url), ""),
  climbOut: () => Deno.readTextFileSync(`${state}/../home/.ssh/id_ed25519`),
  linkOut: () => Deno.symlinkSync(`${home}/.ssh/id_ed25519`, `${state}/link`),
  environment: () => Deno.env.get("HOME"),
  processEnvironment: () => {
    if (process.env.HOME !== undefined) return;
    throw new Error("process.env is empty");
  },
  library: () => Deno.dlopen("libc.so.6", {}),
  remoteImport: () => import(["https://", "127.0.0.1:1/x.ts"].join("")),
  wideThread: () => {
    new Worker(import.meta.url, { type: "module", deno: { permissions: { run: true } } });
  },
  stateWrite: () => Deno.writeTextFileSync(`${state}/note`, "kept"),
  stateRead: () => Deno.readTextFileSync(`${state}/note`),
  network: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  socket: () => Deno.listen({ transport: "unix", path: `${state}/door.sock` }).close(),
  hostname: () => Deno.hostname(),
};

const results: Record<string, string> = {};
for (const [name, attempt] of Object.entries(trials)) {
  try {
    await attempt();
    results[name] = "allowed";
  } catch (error) {
    results[name] = error instanceof Error ? `${error.name}: ${messageOf(error)}` : String(error);
  }
}
// Programs that read `start --json` are told of nothing before a node is ready.
port.post({ type: "ready", peerId: "", http: "", multiaddrs: [], socketPath: "" });
port.post({ type: "event", event: "probe.done", fields: results });
const { reason } = await port.stop;
port.post({ type: "event", event: "probe.stopping", fields: { reason } });
port.post({ type: "stopped" });
self.close();
