// Does a body reach its one reader in order, once, and never faster than it is read?
import { deepEqual, equal, rejects } from "node:assert/strict";
import { PushedBody, type PushedBodySink } from "../../../lib/server/pushed_body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (chunk: Uint8Array) => new TextDecoder().decode(chunk);

/** A body, what its source was asked, and a sink that writes down what it was told. */
function rig() {
  const asked: string[] = [];
  const heard: string[] = [];
  const body = new PushedBody({
    pull: () => void asked.push("pull"),
    cancel: () => void asked.push("cancel"),
  });
  const sink: PushedBodySink = {
    chunk: (chunk) => void heard.push(textOf(chunk)),
    ended: () => void heard.push("(ended)"),
    broke: (error) => void heard.push(`(broke: ${(error as Error).message})`),
  };
  return { body, sink, asked, heard };
}

Deno.test("PushedBody keeps what is pushed before its reader comes, and hands on at once what is pushed after", () => {
  const { body, sink, heard } = rig();
  body.push(bytes("a"));
  body.push(bytes("b"));
  body.follow(sink);
  deepEqual(heard, ["a", "b"]);
  body.push(bytes("c"));
  deepEqual(heard, ["a", "b", "c"]);
  body.close();
  deepEqual(heard, ["a", "b", "c", "(ended)"]);
});

Deno.test("PushedBody tells its end after everything that was pushed, also to a reader that comes later", () => {
  const closed = rig();
  closed.body.push(bytes("a"));
  closed.body.close();
  closed.body.follow(closed.sink);
  deepEqual(closed.heard, ["a", "(ended)"]);

  const failed = rig();
  failed.body.push(bytes("a"));
  failed.body.fail(new Error("lost"));
  failed.body.follow(failed.sink);
  deepEqual(failed.heard, ["a", "(broke: lost)"]);
});

Deno.test("PushedBody tells nothing after its end, whatever its source does", () => {
  for (const end of ["close", "fail"] as const) {
    for (const isFollowed of [true, false]) {
      const { body, sink, heard, asked } = rig();
      if (isFollowed) body.follow(sink);
      if (end === "close") body.close();
      else body.fail(new Error("lost"));
      body.push(bytes("late"));
      body.close();
      body.fail(new Error("late"));
      if (!isFollowed) body.follow(sink);
      body.pull();
      body.cancel();
      deepEqual(heard, [end === "close" ? "(ended)" : "(broke: lost)"]);
      deepEqual(asked, [], "its source has nothing more to do");
    }
  }
});

Deno.test("PushedBody asks its source when its reader wants more, and not before", () => {
  const { body, sink, asked } = rig();
  body.push(bytes("a"));
  body.follow(sink);
  body.push(bytes("b"));
  deepEqual(asked, []);
  body.pull();
  deepEqual(asked, ["pull"]);
  body.pull();
  deepEqual(asked, ["pull", "pull"]);
});

Deno.test("PushedBody tells its source once that nobody reads, and its reader nothing more", () => {
  for (const isFollowed of [true, false]) {
    const { body, sink, heard, asked } = rig();
    if (isFollowed) body.follow(sink);
    else body.push(bytes("never read"));
    body.cancel();
    body.cancel();
    body.push(bytes("late"));
    body.close();
    body.fail(new Error("late"));
    body.pull();
    deepEqual([heard, asked], [[], ["cancel"]]);
  }
});

Deno.test("PushedBody tells a reader nothing more that cancels at what waited for it", () => {
  const { body, sink, heard, asked } = rig();
  body.push(bytes("a"));
  body.push(bytes("b"));
  body.follow({
    ...sink,
    chunk(chunk) {
      sink.chunk(chunk);
      body.cancel();
    },
  });
  deepEqual([heard, asked], [["a"], ["cancel"]]);
});

Deno.test("PushedBody read as a stream gives the same pieces, from before and after", async () => {
  const { body, asked } = rig();
  body.push(bytes("a"));
  body.push(bytes("b"));
  const reader = body.stream().getReader();
  const next = async () => textOf((await reader.read()).value!);
  deepEqual([await next(), await next()], ["a", "b"]);
  deepEqual(asked, [], "nobody waits for more");
  const third = next();
  deepEqual(asked, ["pull"]);
  body.push(bytes("c"));
  equal(await third, "c");
  body.close();
  equal((await reader.read()).done, true);
  deepEqual(asked, ["pull"]);
});

Deno.test("PushedBody read as a stream breaks as its source does", async () => {
  const early = rig();
  early.body.fail(new Error("lost"));
  await rejects(new Response(early.body.stream()).text(), { message: "lost" });

  const late = rig();
  const reader = late.body.stream().getReader();
  const reading = reader.read();
  late.body.fail(new Error("lost later"));
  await rejects(reading, { message: "lost later" });
});

Deno.test("PushedBody read as a stream tells its source, when the reader cancels", async () => {
  const { body, asked } = rig();
  const stream = body.stream();
  body.push(bytes("a"));
  await stream.cancel();
  body.push(bytes("late"));
  body.close();
  deepEqual(asked, ["cancel"]);
});
