// Where does an engine's redirect lead a client?

/** `scheme://authority` and the rest of an absolute http URL, or `//authority` and the rest. */
const absolute = /^(?:https?:)?\/\/([^/?#]*)([/?#].*)?$/is;

/** What the worker knows of its engine. */
export type EngineLocation = {
  /** `127.0.0.1:8000`: host and port as the worker calls them, lower case; the port always given. */
  readonly authority: string;
  /** Path under which the engine's API lies, without a slash at its end; usually empty. */
  readonly basePath: string;
};

/**
 * At the worker: a redirect of the engine to itself loses the engine's address, which no client can reach, and
 * becomes a path within the service. All names of this machine count as the engine's when the port is its.
 * @param location Value of the engine's header.
 * @returns The value unchanged when it leads elsewhere.
 * @example An engine that calls itself by another name of this machine
 * ```ts
 * import { equal } from "node:assert/strict";
 * const engine = { authority: "127.0.0.1:8000", basePath: "" };
 * equal(locationInService("http://localhost:8000/v1/chat/", engine), "/v1/chat/");
 * ```
 */
export function locationInService(location: string, engine: EngineLocation): string {
  const match = absolute.exec(location);
  let path = location;
  if (match) {
    if (!isEngine(match[1].toLowerCase(), location, engine.authority)) return location;
    path = match[2] ?? "/";
    if (!path.startsWith("/")) path = `/${path}`;
  } else if (!location.startsWith("/")) {
    return location; // Relative to the request's own path: right under any prefix.
  }
  const { basePath } = engine;
  if (basePath === "") return path;
  const isInside = path.startsWith(basePath) && /^(?:[/?#]|$)/.test(path.slice(basePath.length));
  if (!isInside) return location;
  const inside = path.slice(basePath.length);
  return inside.startsWith("/") ? inside : `/${inside}`;
}

/**
 * At the head: a path within the service becomes a path at the client door; redirects are never followed.
 * @param location Value from the worker.
 * @param publicPrefix `/v1/service/llm`, without a slash at its end; empty where paths are the same.
 * @returns The value unchanged when it is a full URL or relative to the request's own path.
 */
export function locationForClient(location: string, publicPrefix: string): string {
  const isPath = location.startsWith("/") && !location.startsWith("//");
  return isPath ? publicPrefix + location : location;
}

function isEngine(authority: string, location: string, engineAuthority: string): boolean {
  const withPort = /:\d+$/.test(authority)
    ? authority
    : `${authority}:${/^https:/i.test(location) ? 443 : 80}`;
  return loopbackAsOne(withPort) === loopbackAsOne(engineAuthority);
}

function loopbackAsOne(authority: string): string {
  return authority.replace(
    /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)(?=:\d+$)/,
    "loopback",
  );
}
