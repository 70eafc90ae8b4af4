// Which header fields of an engine's answer travel on?
import { locationInService } from "../access/location.ts";
import type { HeaderList } from "./types.ts";
import type { Upstream } from "./upstream.ts";

/** RFC 9110 §7.6.1: fields that speak about one connection only; lanes frame bodies themselves. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * An engine's header fields, in their order, without those that end here.
 * @param raw Names in lower case and values in turn, bytes as Latin-1 (RFC 9110 §5.5).
 */
export function engineHeaders(
  raw: HeaderList,
  upstream: Pick<Upstream, "origin" | "basePath">,
): HeaderList {
  const headers: HeaderList = [];
  let listed: string | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i];
    const value = raw[i + 1];
    if (hopByHop.has(name)) {
      if (name === "connection") listed = value.toLowerCase();
      continue;
    }
    headers.push(name, name === "location" ? withoutEngine(value, upstream) : value);
  }
  return listed === undefined || listed === "keep-alive" || listed === "close"
    ? headers
    : withoutListed(headers, listed);
}

/** A redirect of the engine to itself becomes a path within the service: no client reaches the engine. */
function withoutEngine(
  location: string,
  { origin, basePath }: Pick<Upstream, "origin" | "basePath">,
): string {
  const { host, port, protocol } = new URL(origin);
  const defaultPort = protocol === "https:" ? ":443" : ":80";
  return locationInService(location, { authority: port ? host : host + defaultPort, basePath });
}

/** Fields that the engine's `Connection` names end here too. */
function withoutListed(headers: HeaderList, connection: string): HeaderList {
  const names = new Set(connection.split(",").map((name) => name.trim()));
  const kept: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!names.has(headers[i])) kept.push(headers[i], headers[i + 1]);
  }
  return kept;
}
