// How does a program call a service of the mesh without a door?
import type { NodeInside } from "../node/node_inside.ts";
import { monotonicClock } from "../node/clock.ts";
import type { BodyStream } from "../exchange/types.ts";
import { isRequestId } from "../gateway/request_context.ts";
import { responseOf } from "../server/plain_answer.ts";
import type { ServerAnswer } from "../server/types.ts";
import { answerBody } from "./answer_body.ts";
import { toMeshFailure } from "./mesh_failure.ts";
import { type MeshRequestInit, readMeshRequest } from "./mesh_request.ts";
import { parseMeshTarget } from "./mesh_target.ts";

/**
 * `fetch`, for addresses of the mesh: see `MeshNode.fetch`.
 *
 * @example A program that is given its way into the mesh
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type MeshFetch, startNode } from "@otela/otela";
 *
 * async function greeting(mesh: MeshFetch): Promise<string> {
 *   return await (await mesh("service:greet/", { fallback: "all" })).text();
 * }
 * await using node = await startNode();
 * await (await node.offer({ name: "greet", handler: () => new Response("hello") })).ready();
 * equal(await greeting(node.fetch), "hello");
 * ```
 */
export type MeshFetch = (
  input: string | URL | Request,
  init?: MeshRequestInit,
) => Promise<Response>;

/** Ways into the mesh for one node. @param ending As in `OfferPorts`. */
export function createMeshFetch(
  inside: Pick<NodeInside, "forwarder" | "newRequestId">,
  ending: AbortSignal,
): MeshFetch {
  return async (input, init) => {
    ending.throwIfAborted();
    const receivedAtMs = monotonicClock.nowMs();
    const address = input instanceof Request ? input.url : String(input);
    const { request, headers, requestId: own } = await readMeshRequest(input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const target = parseMeshTarget(request.method, address);
    const requestId = isRequestId(own) ? own : inside.newRequestId();
    const context = { requestId, receivedAtMs, remoteAddress: "", isUpgrade: false, headers };
    const answered = inside.forwarder.forward(request, target, context);
    return finish(await orAborted(answered, signal, requestId), signal, requestId);
  };
}

/** The answer, unless the program gives up first; an answer that comes afterwards is given up too. */
function orAborted(
  answered: Promise<ServerAnswer>,
  signal: AbortSignal,
  requestId: string,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  answered.then(
    (answer) => {
      const response = responseOf(answer);
      if (signal.aborted) response.body?.cancel(signal.reason).catch(() => {});
      else resolve(response);
    },
    (error) => reject(toMeshFailure(error, requestId)),
  ).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}

function finish(response: Response, signal: AbortSignal, requestId: string): Response {
  const { status, headers } = response;
  headers.set("x-request-id", requestId);
  if (response.body === null) return response;
  const body = answerBody(response.body as BodyStream, signal, requestId);
  return new Response(body, { status, headers });
}
