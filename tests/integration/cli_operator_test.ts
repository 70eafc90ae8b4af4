import { deepEqual, equal, match } from "node:assert/strict";
import { hostname } from "node:os";
import { createOperatorDoor, type ServiceStatus } from "../../lib/gateway/operator_door.ts";
import { silentLog } from "../../lib/base/ports.ts";
import { OtelaError } from "../../lib/base/errors.ts";
import { writeSocketPointer } from "../../lib/identity/socket_place.ts";
import { jsonLine } from "../../cli/json.ts";
import { runCommand } from "../support/command_io.ts";

const llm: ServiceStatus = {
  name: "llm",
  url: "http://127.0.0.1:8000",
  state: "ready",
  reason: "",
  identityGroups: ["model=a"],
};

/** A real operator door on a real socket, with services in memory, where commands look for it. */
async function withDoor(
  use: (home: string, services: Map<string, ServiceStatus>, pointer: string) => Promise<void>,
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "otela-cli-" });
  const services = new Map([[llm.name, llm]]);
  const answer = createOperatorDoor({
    explain: () => ({ policy: "p2c", candidates: [] }),
    log: silentLog,
    newRequestId: () => "test-1",
    status: () => ({ services: [...services.values()] }) as never,
    services: {
      list: () => [...services.values()],
      add: (description) => {
        const { name, url } = description as { name: string; url: string };
        if (!url.startsWith("http")) throw new OtelaError("config_invalid", "url must be a URL");
        services.set(name, { ...llm, name, url, state: "starting", identityGroups: [] });
        return Promise.resolve(services.get(name)!);
      },
      remove: (name) => Promise.resolve(services.delete(name)),
    },
    peers: () => [],
    stop: () => {},
  });
  const socket = `${home}/door.sock`;
  const server = Deno.serve({ path: socket, onListen: () => {} }, answer);
  const pointer = `${home}/.local/state/opentela/instances/default/operator.json`;
  await writeSocketPointer(pointer, { socket, host: hostname(), pid: Deno.pid });
  try {
    await use(home, services, pointer);
  } finally {
    await server.shutdown();
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("service add, list and remove change the running node", async () => {
  await withDoor(async (home, services) => {
    const url = "http://127.0.0.1:9000";
    const added = await runCommand(["service", "add", "tts", url], { home });
    deepEqual(added, { code: 0, out: [`tts  starting  ${url}`], err: [] });
    deepEqual((await runCommand(["service", "list"], { home })).out, [
      "llm  ready     http://127.0.0.1:8000  model=a",
      `tts  starting  ${url}`,
    ]);
    const { out: [json] } = await runCommand(["service", "list", "--json"], { home });
    equal(json, jsonLine([...services.values()]));
    deepEqual(await runCommand(["service", "remove", "tts"], { home }), {
      code: 0,
      out: ["removed tts"],
      err: [],
    });
    equal(services.has("tts"), false);
  });
});

Deno.test("service tells in one line what the node refuses, with its exit code", async () => {
  await withDoor(async (home) => {
    const bad = await runCommand(["service", "add", "x", "nonsense"], { home });
    deepEqual(bad, { code: 2, out: [], err: ["otela: url must be a URL"] });
    const unknown = await runCommand(["service", "remove", "nope"], { home });
    equal(unknown.code, 1);
    match(unknown.err[0], /^otela: Cannot remove the service "nope"/);
  });
});

Deno.test("status says that no node runs, that it has ended, or that it runs on another host", async () => {
  await withDoor(async (home, _, pointer) => {
    const other = await runCommand(["status", "--instance", "other"], { home });
    equal(other.code, 5);
    match(other.err[0], /No node runs as instance "other"/);

    const socket = `${home}/gone.sock`;
    await writeSocketPointer(pointer, { socket, host: hostname(), pid: 1 });
    const ended = await runCommand(["status"], { home });
    equal(ended.code, 5);
    match(ended.err[0], /No such file/);

    await writeSocketPointer(pointer, { socket, host: "node042", pid: 1 });
    const elsewhere = await runCommand(["status"], { home });
    equal(elsewhere.code, 5);
    match(elsewhere.err[0], /^otela: The node runs on node042, and its commands work only there/);
  });
});
