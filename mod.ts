// What may programs use?

/**
 * OpenTela for Deno as a library: a program that starts a node is a peer of the mesh. It can offer services, call
 * those of others, and see who is there.
 *
 * @example A function, offered by one process and called by another
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { startNode } from "@otela/otela";
 *
 * await using worker = await startNode({ network: "readme" });
 * await worker.offer({ name: "greet", handler: () => new Response("Good morning") });
 *
 * await using caller = await startNode({ network: "readme", bootstrap: worker.multiaddrs() });
 * for await (const { peer } of caller.watch()) {
 *   if (peer.claim.services.some(({ name }) => name === "greet")) break;
 * }
 * const response = await caller.fetch("service:greet/", { fallback: "all" });
 * equal(await response.text(), "Good morning");
 * ```
 * @module
 */
export { type ErrorCode, type ErrorFields, OtelaError } from "./lib/base/errors.ts";
export { isPeerId, parsePeerId, type PeerId, shortPeerId } from "./lib/base/peer_id.ts";
export type { ServiceStatus } from "./lib/gateway/operator_door.ts";
export type { Claim, ServiceClaim } from "./lib/registry/claim.ts";
export type { MeshFetch } from "./lib/toolkit/mesh_fetch.ts";
export { MeshNode } from "./lib/toolkit/mesh_node.ts";
export type { MeshRequestInit } from "./lib/toolkit/mesh_request.ts";
export type { Offer } from "./lib/toolkit/offer.ts";
export type { Handler, OfferOptions, OfferSource } from "./lib/toolkit/offer_options.ts";
export type { Peer } from "./lib/toolkit/peer.ts";
export type { PeerChange } from "./lib/toolkit/peer_watch.ts";
export { startNode } from "./lib/toolkit/start_node.ts";
export type { StartOptions } from "./lib/toolkit/start_options.ts";
