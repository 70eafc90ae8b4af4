import { deepEqual, equal } from "node:assert/strict";
import { HelperLine } from "../../../lib/config/helper_line.ts";
import type {
  HelperKind,
  HelperListener,
  HelperReport,
  HelperThreads,
} from "../../../lib/config/helper_threads.ts";
import { Helpers } from "../../../lib/launcher/helpers.ts";
import { ownHelperThreads, startHelperThread } from "../../../lib/platform/helper_threads.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 10_000;
const echo = new URL("../../support/threads/echo.ts", import.meta.url);
const echoes: HelperThreads = {
  start: (kind, listener) => startHelperThread(echo, kind, listener),
};

/** Both ends of a line, each message as a copy in a later turn, as between threads. */
function line(threads: HelperThreads) {
  const later = <Message>(tell: (message: Message) => void) => (message: Message) => {
    const copy = structuredClone(message);
    queueMicrotask(() => tell(copy));
  };
  const helpers: Helpers = new Helpers(threads, later((report) => thread.reported(report)));
  const thread: HelperLine = new HelperLine(later((request) => helpers.asked(request)));
  return { helpers, thread };
}

/** Gathers what a helper says until something is as it is waited for. */
function listening() {
  const heard: unknown[] = [];
  let check = () => {};
  const listener: HelperListener = {
    said: (data) => (heard.push(data), check()),
    failed: (message) => (heard.push({ failed: message }), check()),
  };
  const heardCount = (count: number) => {
    const { promise, resolve } = Promise.withResolvers<unknown[]>();
    check = () => {
      if (heard.length >= count) resolve(heard);
    };
    check();
    return within(deadlineMs, promise);
  };
  return { listener, heardCount };
}

for (
  const [name, make] of [
    ["in this thread", () => ({ threads: echoes, end: () => {} })],
    ["through the launcher", () => {
      const { helpers, thread } = line(echoes);
      return { threads: thread as HelperThreads, end: () => helpers[Symbol.dispose]() };
    }],
  ] as const
) {
  Deno.test(`HelperThreads ${name}: answers in order, and binary data arrives whole`, async () => {
    const { threads, end } = make();
    const { listener, heardCount } = listening();
    const helper = threads.start("claim loader", listener);
    const sent = [1, "two", { three: Uint8Array.of(3) }];
    for (const data of sent) helper.post(data);
    deepEqual(await heardCount(3), sent);
    helper.end();
    end();
  });

  Deno.test(`HelperThreads ${name}: a thread that breaks down is told once, and this one lives on`, async () => {
    const { threads, end } = make();
    const { listener, heardCount } = listening();
    const helper = threads.start("claim loader", listener);
    helper.post("break");
    const [{ failed }] = await heardCount(1) as [{ failed: string }];
    equal(failed.includes("the helper has a fault"), true, failed);
    helper.post("nobody hears it");
    helper.end();
    const other = listening();
    const next = threads.start("claim loader", other.listener);
    next.post("again");
    deepEqual(await other.heardCount(1), ["again"]);
    next.end();
    end();
  });

  Deno.test(`HelperThreads ${name}: nothing comes from one that was ended`, async () => {
    const { threads, end } = make();
    const { listener, heardCount } = listening();
    const ended = threads.start("claim loader", listener);
    ended.post("early");
    ended.end();
    const other = listening();
    const next = threads.start("automerge compiler", other.listener);
    next.post("late");
    await other.heardCount(1);
    deepEqual(await heardCount(0), []);
    next.end();
    end();
  });
}

Deno.test("The launcher starts only known helpers, and not many", () => {
  const started: HelperKind[] = [];
  const reports: HelperReport[] = [];
  const threads: HelperThreads = {
    start: (kind) => (started.push(kind), { post: () => {}, end: () => {} }),
  };
  using helpers = new Helpers(threads, (report) => reports.push(report));
  helpers.asked({ type: "helper.start", id: 1, kind: "shell" as HelperKind });
  equal(reports[0].type, "helper.failed");
  for (let id = 2; id < 20; id++) helpers.asked({ type: "helper.start", id, kind: "claim loader" });
  equal(started.length, 4);
  equal(reports.length, 15);
  helpers.asked({ type: "helper.post", id: 19, data: "nobody" });
  helpers.asked({ type: "helper.end", id: 2 });
  helpers.asked({ type: "helper.start", id: 20, kind: "claim loader" });
  equal(started.length, 5);
});

Deno.test("The helpers of a node thread run from source without permissions", async () => {
  const { listener, heardCount } = listening();
  const helper = ownHelperThreads.start("automerge compiler", listener);
  const [{ module }] = await heardCount(1) as [{ module: WebAssembly.Module }];
  equal(module instanceof WebAssembly.Module, true);
  helper.end();
});
