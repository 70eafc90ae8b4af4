import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { OtelaError } from "../../../lib/base/errors.ts";
import { ownHelperThreads } from "../../../lib/platform/helper_threads.ts";
import { type NodeThread, startNodeThread } from "../../../lib/launcher/node_thread.ts";
import { supervise } from "../../../lib/launcher/supervise.ts";
import type { StopSignal } from "../../../lib/launcher/signals.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 10_000;
const drainMs = 20_000;

function start(fate: string, onEvent: (event: string) => void = () => {}): NodeThread {
  return startNodeThread({
    entry: new URL("../../support/threads/fate.ts", import.meta.url),
    permissions: { read: false, env: false, net: false },
    helpers: ownHelperThreads,
    start: { type: "start", environment: { FATE: fate } } as never,
    onEvent: ({ event }) => onEvent(event),
  });
}

Deno.test("startNodeThread tells when the node is ready, and ends when it has stopped", async () => {
  const node = start("obedient");
  equal((await within(deadlineMs, node.ready)).peerId, "peer");
  node.stop("test", 0);
  await within(deadlineMs, node.ended);
});

Deno.test("startNodeThread keeps a stop that comes before the thread listens", async () => {
  const node = start("obedient");
  node.stop("test", 0);
  await within(deadlineMs, node.ended);
});

Deno.test("startNodeThread fails with the node's own code when the node says why", async () => {
  const node = start("refused");
  const isPortBusy = (error: OtelaError) => error.code === "port_busy";
  await rejects(within(deadlineMs, node.ready), isPortBusy);
  await rejects(within(deadlineMs, node.ended), isPortBusy);
});

Deno.test("startNodeThread fails when the thread breaks down, and this thread lives on", async () => {
  const node = start("broken");
  await rejects(within(deadlineMs, node.ended), (error: OtelaError) => {
    match(error.message, /the node has a fault/);
    return error.code === "node_failed";
  });
});

Deno.test("startNodeThread fails when there is no such thread", async () => {
  const node = startNodeThread({
    entry: new URL("./nowhere.ts", import.meta.url),
    permissions: {},
    helpers: ownHelperThreads,
    start: {} as never,
    onEvent: () => {},
  });
  await rejects(
    within(deadlineMs, node.ready),
    (error: OtelaError) => error.code === "node_failed",
  );
});

Deno.test("startNodeThread ends a node at once when told so", async () => {
  const node = start("stuck");
  await within(deadlineMs, node.ready);
  node.terminate();
  await within(deadlineMs, node.ended);
});

Deno.test("C071: supervise answers the first signal with a stop and exit code 0", async () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const) {
    const signals = new FakeSignals();
    const node = start("obedient");
    const code = supervise(node, signals.source, drainMs);
    await within(deadlineMs, node.ready);
    signals.send(signal);
    equal(await within(deadlineMs, code), 0);
    deepEqual(signals.listeners.size, 0);
  }
});

Deno.test("C071: supervise answers the second signal by ending at once", async () => {
  const signals = new FakeSignals();
  const stuck = Promise.withResolvers<void>();
  const node = start("stuck", () => stuck.resolve());
  const code = supervise(node, signals.source, drainMs);
  await within(deadlineMs, node.ready);
  signals.send("SIGTERM");
  await within(deadlineMs, stuck.promise); // It is draining.
  signals.send("SIGTERM");
  equal(await within(deadlineMs, code), 143);
});

class FakeSignals {
  readonly listeners = new Set<(signal: StopSignal) => void>();
  readonly source = (listener: (signal: StopSignal) => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
  send(signal: StopSignal): void {
    for (const listener of this.listeners) listener(signal);
  }
}
