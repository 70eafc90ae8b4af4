// What does a node carry?
import type { ThreadWork } from "../platform/garbage_plan.ts";
import type { Parts } from "./parts.ts";

/** Requests of clients, exchanges with peers and calls of engines: how many run, and how many were begun. */
export function workOf({ calls, client, pool, server }: Parts): ThreadWork {
  return {
    openCount: calls.openCount + pool.counts().exchanges + server.counts().exchanges,
    startedCount: calls.startedCount + client.startedCount,
  };
}
