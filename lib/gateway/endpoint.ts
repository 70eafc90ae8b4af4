// To which service, and to which path there, does a request go?
import { OtelaError } from "../base/errors.ts";
import { parsePeerId } from "../base/peer_id.ts";
import { parseServiceName } from "../routing/names.ts";
import { checkServicePath, pathCharsMax, type PathRefusal } from "../routing/service_path.ts";
import type { ForwardTarget } from "./target.ts";
import type { RawTarget } from "./raw_target.ts";

/** OpenAI's own paths that create something, so that every other method is a mistake. */
const openAiPosts: ReadonlySet<string> = new Set([
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/moderations",
  "/v1/rerank",
  "/v1/score",
]);

/** OpenAI's own paths with something below them: any method, an upgrade included. */
const openAiTrees: readonly string[] = [
  "/v1/audio",
  "/v1/images",
  "/v1/realtime",
  "/v1/responses",
];

/**
 * The service that a path means, by hand-written matching on the raw path: it is on the way of each
 * request, and a router would decode what must stay as it came.
 * @param openAiService The service behind OpenAI's own paths.
 * @returns `undefined` when the path belongs to no service.
 * @throws {OtelaError} `bad_request` for a name or path that cannot be, `bad_peer_id`, `method_not_allowed`.
 */
export function matchTarget(
  method: string,
  { path, query }: RawTarget,
  openAiService: string,
): ForwardTarget | undefined {
  if (!path.startsWith("/v1/")) return undefined;
  const openAiPath = matchOpenAi(method, path);
  if (openAiPath !== undefined) {
    return {
      kind: "service",
      service: openAiService,
      path: openAiPath + query,
      // Where an engine redirects to need not be one of OpenAI's paths; below the service it always is.
      publicPrefix: `/v1/service/${openAiService}`,
    };
  }
  if (path.startsWith(servicePrefix)) {
    return { kind: "service", ...below(servicePrefix, path, query) };
  }
  if (path.startsWith(localPrefix)) return { kind: "local", ...below(localPrefix, path, query) };
  if (path.startsWith(peerServicePrefix)) {
    const { peer, rest } = peerIn(path, peerServicePrefix);
    return { kind: "peer", peer: parsePeerId(peer), ...below(rest, path, query) };
  }
  if (path.startsWith(peerPrefix)) return matchPeer(path, query);
  return undefined;
}

const servicePrefix = "/v1/service/";
const localPrefix = "/v1/_service/";
const peerPrefix = "/v1/p2p/";
const peerServicePrefix = "/v1/p2p-service/";

/** Path for the engine; the slash at the end is dropped, because engines answer it with a redirect. */
function matchOpenAi(method: string, path: string): string | undefined {
  const plain = path.endsWith("/") ? path.slice(0, -1) : path;
  if (openAiPosts.has(plain)) {
    if (method === "POST") return plain;
    throw new OtelaError(
      "method_not_allowed",
      `Cannot use ${method} on ${plain} as it must be POST`,
      { fields: { allow: "POST, OPTIONS" } },
    );
  }
  const tree = openAiTrees.find((root) =>
    plain.startsWith(root) && (plain.length === root.length || plain[root.length] === "/")
  );
  if (tree === undefined) return undefined;
  enginePath(plain.slice(tree.length));
  return plain;
}

/** The peer's name after a prefix, and the prefix that ends behind it. */
function peerIn(path: string, prefix: string): { peer: string; rest: string } {
  const end = path.indexOf("/", prefix.length);
  return end < 0
    ? { peer: path.slice(prefix.length), rest: `${path}/` }
    : { peer: path.slice(prefix.length, end), rest: path.slice(0, end + 1) };
}

/** Only services of a peer can be reached, by the two names the reference has for them. */
function matchPeer(path: string, query: string): ForwardTarget {
  const { peer, rest } = peerIn(path, peerPrefix);
  for (const prefix of ["v1/_service/", "v1/service/"]) {
    if (path.startsWith(prefix, rest.length)) {
      return { kind: "peer", peer: parsePeerId(peer), ...below(rest + prefix, path, query) };
    }
  }
  parsePeerId(peer);
  throw new OtelaError(
    "no_such_endpoint",
    "Cannot reach that path of a peer as it must be one of its services: /v1/_service/<service>/…",
  );
}

/** Splits what follows a prefix into the service's name and the path for its engine. */
function below(
  prefix: string,
  path: string,
  query: string,
): { service: string; path: string; publicPrefix: string } {
  const end = path.indexOf("/", prefix.length);
  const service = parseServiceName(
    end < 0 ? path.slice(prefix.length) : path.slice(prefix.length, end),
  );
  const rest = end < 0 ? "" : path.slice(end);
  return { service, path: enginePath(rest) + query, publicPrefix: `${prefix}${service}` };
}

const refusals: Readonly<Record<PathRefusal, string>> = {
  escapes: "it must stay below its prefix when it is decoded and its dots are resolved",
  nul: "it must have no NUL",
  bad_character: "blanks and control characters must be percent-encoded",
  too_long: `it must have at most ${pathCharsMax} characters`,
};

/** What stands behind a prefix, unchanged, as the path for an engine. */
function enginePath(rest: string): string {
  const checked = checkServicePath(rest);
  if (checked.isForwarded) return checked.path;
  throw new OtelaError("bad_request", `Cannot forward the path as ${refusals[checked.reason]}`);
}
