// What does a program ask of a service, and how does it look to the forward path?
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { HeaderList } from "../exchange/types.ts";
import { readRequestHead } from "../gateway/request_head.ts";

/**
 * What `fetch` takes, and what decides who may serve.
 *
 * @example Asks for a topic, or for whoever takes everything
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type MeshRequestInit, startNode } from "@otela/otela";
 *
 * await using node = await startNode();
 * const offer = await node.offer({
 *   name: "oracle",
 *   identityGroups: ["topic=weather", "all"],
 *   handler: () => new Response("rain"),
 * });
 * await offer.ready();
 * const exact: MeshRequestInit = { identityGroup: "topic=weather" };
 * equal(await (await node.fetch("service:oracle/today", exact)).text(), "rain");
 * const any: MeshRequestInit = { identityGroup: "topic=love", fallback: "all" };
 * equal(await (await node.fetch("service:oracle/today", any)).text(), "rain");
 * ```
 */
export type MeshRequestInit = RequestInit & {
  /** `model=Qwen3-8B`: what to look for in place of what the body names. */
  readonly identityGroup?: string;
  /** The worst match that may serve: only its exact group, also `key=*`, or also `all`. `exact` when absent. */
  readonly fallback?: "exact" | "wildcard" | "all";
  /** The only peers that may serve, most wanted first. */
  readonly allowedPeers?: readonly PeerId[];
};

/** A request as the forward path takes it. */
export type MeshRequest = {
  readonly request: Request;
  /** Names in lower case. */
  readonly headers: HeaderList;
  /** The caller's own; empty when there is none. */
  readonly requestId: string;
};

const fallbackLevels = { exact: "0", wildcard: "1", all: "2" } as const;

/**
 * Reads what the program gave. Bodies that are no streams are taken whole, so that the engine is told their
 * length and a retry can send them again.
 * @throws {OtelaError} `upgrade_unsupported`, `bad_request`.
 * @throws {TypeError} As `Request` itself, for what is none.
 */
export async function readMeshRequest(
  input: string | URL | Request,
  init: MeshRequestInit = {},
): Promise<MeshRequest> {
  // The address was read before: a `Request` would resolve and decode parts of it.
  const given = new Request(input instanceof Request ? input : "http://mesh/", init);
  setRoutingHeaders(given.headers, init);
  const isStream = input instanceof Request || isStreamed(init.body);
  const bytes = given.body === null || isStream ? undefined : await given.arrayBuffer();
  const { method, signal } = given;
  const request = bytes ? new Request("http://mesh/", { method, signal, body: bytes }) : given;
  const head = readRequestHead(given.headers);
  if (head.upgrade !== "") {
    throw new OtelaError(
      "upgrade_unsupported",
      "Cannot change the protocol of a call over the mesh",
    );
  }
  if (head.fault !== "") throw new OtelaError("bad_request", `Cannot send as ${head.fault}`);
  const headers = bytes ? withLength(head.headers, bytes.byteLength) : head.headers;
  return { request, headers, requestId: head.requestId };
}

function setRoutingHeaders(headers: Headers, init: MeshRequestInit): void {
  const { identityGroup, fallback, allowedPeers } = init;
  if (identityGroup !== undefined) headers.set("x-otela-identity-group", identityGroup);
  if (fallback !== undefined) headers.set("x-otela-fallback", fallbackLevels[fallback]);
  if (allowedPeers !== undefined) headers.set("x-otela-allowed-peers", allowedPeers.join(","));
}

/** Bodies whose length nobody knows before their end. */
function isStreamed(body: RequestInit["body"]): boolean {
  return body instanceof ReadableStream ||
    typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

function withLength(headers: HeaderList, bytes: number): HeaderList {
  const list: HeaderList = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== "content-length") list.push(headers[at], headers[at + 1]);
  }
  list.push("content-length", String(bytes));
  return list;
}
