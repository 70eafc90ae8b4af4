import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { asciiOnly, packed, tellWay, withoutCachePath } from "../../../deploy/executable/bundle.ts";
import { nameThreads, threadModules } from "../../../deploy/executable/thread_modules.ts";

const starts = (named: string) => `new Worker(new URL("${named}", import.meta.url), {});`;

Deno.test("threadModules finds each module that a thread runs, by the text that names it", () => {
  const threads = threadModules({
    "lib/launcher/launch.ts": `entry: new URL(\n  "../node/thread.ts",\n  import.meta.url,\n)`,
    "lib/node/claim_loader.ts": starts("./claim_loader_thread.ts"),
    "lib/node/plain.ts": `new URL("..", import.meta.url)`,
  });
  deepEqual([...threads], [
    ["../node/thread.ts", "lib/node/thread.ts"],
    ["./claim_loader_thread.ts", "lib/node/claim_loader_thread.ts"],
  ]);
});

Deno.test("threadModules refuses one text for two threads, as a bundle forgets who said it", () => {
  throws(
    () => threadModules({ "lib/a/x.ts": starts("./t.ts"), "lib/b/y.ts": starts("./t.ts") }),
    /"\.\/t\.ts" means both lib\/a\/t\.ts and lib\/b\/t\.ts/,
  );
});

Deno.test("nameThreads names threads from where the bundle lies", () => {
  const threads = new Map([["../node/thread.ts", "lib/node/thread.ts"]]);
  const named = starts("../node/thread.ts");
  equal(nameThreads(named, "main.js", threads), starts("./lib/node/thread.js"));
  equal(nameThreads(named, "lib/node/a.js", threads), starts("../../lib/node/thread.js"));
  throws(() => nameThreads(starts("./other.ts"), "main.js", threads), /no thread of ours/);
});

Deno.test("tellWay writes the way into its one place, and refuses none and two", () => {
  equal(tellWay(`var buildWay = "source";`, "offline"), `var buildWay = "offline";`);
  throws(() => tellWay("", "offline"), /found 0 places/);
  throws(() => tellWay(`buildWay = "source"; buildWay = "source"`, "offline"), /found 2 places/);
});

Deno.test("asciiOnly gives the same text another form", () => {
  const text = "é–😀\u0000a";
  const program = asciiOnly(`"${text.replace("\u0000", "\\u0000")}"`);
  equal(/[\u0080-\uffff]/.test(program), false);
  equal(JSON.parse(program), text);
});

Deno.test("withoutCachePath forgets where packages were, in comments and keys alone", () => {
  const built = (place: string) =>
    `// ${place}/hono/4.0.0/x.js\nvar a = __esm({\n  "${place}/hono/4.0.0/x.js"() {\n`;
  const wanted = `// npm/hono/4.0.0/x.js\nvar a = __esm({\n  "npm/hono/4.0.0/x.js"() {\n`;
  equal(withoutCachePath(built("../../home/ada/.cache/deno/npm/registry.example.org")), wanted);
  equal(withoutCachePath(built("../../../deno-dir/npm/mirror.example.org")), wanted);
  const code = `import("../a/npm/b/c.js");\n// lib/node/thread.ts\n`;
  equal(withoutCachePath(code), code);
});

Deno.test("packed deflates long binaries, and the program unpacks them to the same text", async () => {
  const base64 = Buffer.from(Uint8Array.from({ length: 120_000 }, (_, at) => at >> 7)).toString(
    "base64",
  );
  const short = "A".repeat(99_999);
  const program = packed(`export const found = ["${base64}", "${short}"];`);
  ok(program.length < base64.length, String(program.length));
  const { found } = await import(`data:text/javascript,${encodeURIComponent(program)}`);
  deepEqual(found, [base64, short]);
  equal(packed(`"${short}"`), `"${short}"`);
});
