import { deepEqual, equal } from "node:assert/strict";
import { silentLog } from "../../../lib/base/ports.ts";
import { listened } from "../../../lib/node/events.ts";

Deno.test("listened tells of services and peers, whatever the log itself writes", () => {
  const told: unknown[] = [];
  const log = listened(silentLog, (event, fields) => told.push([event, fields]));
  log.info("service.ready", { service: "llm" });
  log.warn("service.withdrawn", { service: "llm", reason: "refused" });
  log.info("peer.changed", { status: "left" });
  log.info("request.done", { status: 200 });
  log.error("service.ready");
  deepEqual(told, [
    ["service.ready", { service: "llm" }],
    ["service.withdrawn", { service: "llm", reason: "refused" }],
    ["peer.changed", { status: "left" }],
  ]);
});

Deno.test("listened is the log itself when nobody listens", () => {
  equal(listened(silentLog, undefined), silentLog);
});
