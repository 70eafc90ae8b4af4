// Does a program get the node it asks for, and nothing is left of it afterwards?
import { dirname } from "node:path";
import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { OtelaError, startNode, type StartOptions } from "../../mod.ts";
import { patienceMs, startLocal } from "../support/toolkit_mesh.ts";
import { within } from "../support/within.ts";

Deno.test("startNode refuses options as the command line would, each with its reason", async () => {
  const wrong: [StartOptions, RegExp][] = [
    [{ role: "boss" as "head" }, /--role: must be one of head, worker, relay: got "boss"/],
    [{ httpPort: 99_999 }, /--port: must be a whole number from 0 to 65535: got "99999"/],
    [{ network: "no spaces" }, /--network: must be .* got "no spaces"/],
    [{ settings: { "limits.head_timeout": "soon" } }, /OF_LIMITS_HEAD_TIMEOUT: must be a duration/],
    [{ settings: { "limits.hed_timeout": "1s" } }, /did you mean "limits.head_timeout"\?/],
    [{ settings: { "security.rate_limit.enabled": true } }, /cannot enforce it/],
  ];
  for (const [options, reason] of wrong) {
    await rejects(startNode(options), (error) => {
      ok(error instanceof OtelaError);
      equal(error.code, "config_invalid");
      match(error.message, reason);
      return true;
    });
  }
});

Deno.test("startNode gives everything back when one of its services cannot be", async () => {
  const twice = { name: "a", handler: () => new Response() };
  await rejects(startLocal({ services: [twice, twice] }), { code: "bad_request" });
});

Deno.test("startNode with a busy port fails as one that was asked for", async () => {
  await using first = await startLocal();
  const httpPort = Number(new URL(first.http).port);
  await rejects(startLocal({ httpPort }), { code: "port_busy" });
});

Deno.test("a node without a state folder is a new peer each time, and leaves no file", async () => {
  const folder = await Deno.makeTempDir();
  const usual = Deno.env.get("TMPDIR");
  Deno.env.set("TMPDIR", folder);
  const names = () => Array.from(Deno.readDirSync(folder), ({ name }) => name);
  try {
    const first = await startLocal();
    equal(names().length, 1);
    const { peerId } = first;
    await first.stop();
    await using second = await startLocal();
    notEqual(second.peerId, peerId);
    await second.stop();
    deepEqual(names(), []);
  } finally {
    if (usual === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", usual);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("B65: a node with a state folder is the same peer again, and has it for itself", async () => {
  const stateDir = await Deno.makeTempDir();
  try {
    const first = await startLocal({ stateDir });
    await rejects(startLocal({ stateDir }), { code: "instance_locked" });
    const { peerId } = first;
    await first.stop();
    await using again = await startLocal({ stateDir });
    equal(again.peerId, peerId);
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
});

Deno.test("MeshNode stops once, says so, and can do nothing afterwards", async () => {
  const lines: string[] = [];
  const node = await startLocal({ log: (line) => lines.push(line) });
  await Promise.all([node.stop(), node.stop()]);
  await node.ended;
  await node.stop();
  const isStopping = { code: "node_stopping" };
  await rejects(node.fetch("service:a/"), isStopping);
  await rejects(node.offer({ name: "a", handler: () => new Response() }), isStopping);
  for await (const _ of node.watch()) throw new Error("a stopped node sees nothing");
  await rejects(fetch(`${node.http}/v1/health`));
  ok(lines.some((line) => line.includes("node.ready")));
  ok(lines.some((line) => line.includes("node.stopping reason=library")));
});

Deno.test("a function is served to this user alone, and nothing is left of it", async () => {
  await using node = await startLocal();
  const pathOf = () => node.services()[0].url.replace(/^unix:/, "");
  const first = await node.offer({ name: "a", handler: () => new Response() });
  const path = pathOf();
  equal(Deno.statSync(path).mode! & 0o777, 0o600);
  equal(Deno.statSync(dirname(path)).mode! & 0o777, 0o700);
  await first.withdraw();
  await within(patienceMs, gone(path));
  await node.offer({ name: "a", handler: () => new Response() });
  const second = pathOf();
  await node.stop();
  await within(patienceMs, gone(second));
});

Deno.test("MeshNode has a door for others on this machine", async () => {
  await using node = await startLocal({ role: "head" });
  match(node.http, /^http:\/\/127\.0\.0\.1:\d+$/);
  const response = await fetch(`${node.http}/v1/health`);
  deepEqual(await response.json(), { status: "ok" });
});

async function gone(path: string): Promise<void> {
  const isThere = () => Deno.stat(path).then(() => true, () => false);
  while (await isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
}
