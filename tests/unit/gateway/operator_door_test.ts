import { deepEqual, equal, match } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import { silentLog } from "../../../lib/base/ports.ts";
import {
  createOperatorDoor,
  type NodeStatus,
  operatorBodyBytesMax,
  peerRows,
  type ServiceStatus,
} from "../../../lib/gateway/operator_door.ts";
import type { CandidateFacts } from "../../../lib/routing/explain.ts";
import { claim, entry, peer, service, tableOf } from "./fixture.ts";

function operator() {
  const services = new Map<string, ServiceStatus>();
  const calls: string[] = [];
  const status = (): NodeStatus => ({
    peerId: peer("S"),
    role: "worker",
    version: "0.1.0",
    http: ["http://127.0.0.1:8092"],
    multiaddrs: [],
    uptimeMs: 5_000,
    network: "opentela",
    connections: 1,
    peers: { alive: 1, suspect: 0, left: 0 },
    running: { out: 0, in: 0, engines: 0 },
    services: [...services.values()],
    registry: { claims: 2, claimBytes: 1_600 },
    warnings: [],
  });
  const door = createOperatorDoor({
    explain: ({ value }) => ({ policy: "p2c", candidates: value === "m" ? [facts] : [] }),
    log: silentLog,
    newRequestId: () => "req-1",
    status,
    peers: () => peerRows(tableOf(entry(peer("A"), claim(service("llm")), "left")), 3_500),
    stop: () => void calls.push("stop"),
    services: {
      list: () => [...services.values()],
      add(description) {
        const { name, url } = description as { name?: string; url?: string };
        if (!name || !url) {
          return Promise.reject(
            new OtelaError("config_invalid", "Cannot add the service without a name"),
          );
        }
        const added = { name, url, state: "starting", reason: "", identityGroups: [] };
        services.set(name, added);
        return Promise.resolve(added);
      },
      remove: (name) => Promise.resolve(services.delete(name)),
    },
  });
  const ask = (method: string, path: string, body?: BodyInit) =>
    door(new Request(`http://operator${path}`, { method, body }));
  return { ask, calls };
}

const facts: CandidateFacts = {
  peer: peer("A"),
  tierIndex: 0,
  engine: "vllm",
  load: 1,
  inFlight: 1,
  capacity: 0,
  latencyMs: 12.5,
  weight: 1,
  score: 27,
  why: "asked",
};

Deno.test("createOperatorDoor adds, lists and removes services of a running node", async () => {
  const { ask } = operator();
  const added = await ask("POST", "/services", '{"name":"llm","url":"http://127.0.0.1:8000"}');
  equal(added.status, 201);
  equal((await added.json()).state, "starting");
  const list = await (await ask("GET", "/services")).json();
  deepEqual(list.services.map(({ name }: ServiceStatus) => name), ["llm"]);
  equal((await (await ask("GET", "/status")).json()).services.length, 1);
  equal((await ask("DELETE", "/services/llm")).status, 204);
  const again = await ask("DELETE", "/services/llm");
  equal(again.status, 404);
  equal((await again.json()).type, "/problems/no_such_service");
});

Deno.test("createOperatorDoor refuses a description that is no JSON, none of a service, or too long", async () => {
  const { ask } = operator();
  const rows: [BodyInit | undefined, number, string][] = [
    ["{", 400, "malformed_body"],
    [undefined, 400, "malformed_body"],
    ["{}", 400, "config_invalid"],
    [" ".repeat(operatorBodyBytesMax + 1), 413, "body_too_large"],
  ];
  for (const [body, status, code] of rows) {
    const response = await ask("POST", "/services", body);
    equal(response.status, status);
    equal(response.headers.get("content-type"), "application/problem+json");
    equal((await response.json()).type, `/problems/${code}`);
  }
});

Deno.test("createOperatorDoor asks the node to stop and still answers", async () => {
  const { ask, calls } = operator();
  equal((await ask("POST", "/stop")).status, 202);
  deepEqual(calls, ["stop"]);
});

Deno.test("createOperatorDoor answers problems as RFC 9457, when path or method is wrong", async () => {
  const { ask, calls } = operator();
  equal((await ask("GET", "/v1/health")).status, 404);
  const response = await ask("GET", "/stop");
  equal(response.status, 405);
  equal(response.headers.get("allow"), "POST");
  match((await response.json()).detail, /must be POST/);
  deepEqual(calls, []);
});

Deno.test("createOperatorDoor explains where a request would go", async () => {
  const { ask } = operator();
  const explained = await ask("GET", "/explain?service=llm&group=model%3Dm");
  deepEqual(await explained.json(), { policy: "p2c", candidates: [facts] });
  deepEqual((await (await ask("GET", "/explain?group=model=x")).json()).candidates, []);
  equal((await ask("GET", "/explain?group=m")).status, 400);
  equal((await ask("POST", "/explain")).status, 405);
});

Deno.test("operator door lists peers with status, reason, since when and by whom", async () => {
  const { ask } = operator();
  const answer = await ask("GET", "/peers");
  deepEqual(await answer.json(), {
    peers: [{
      id: peer("A"),
      role: "worker",
      status: "left",
      reason: "goodbye",
      forMs: 2_500,
      seenBy: [peer("S")],
      connectedness: "not_connected",
      services: ["llm"],
      isSelf: false,
    }],
  });
});
