// What does a request ask for, as far as routing minds?
import { OtelaError } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import type { HeaderList } from "../exchange/types.ts";
import { type MatchKeys, matchKeysOfHeader } from "../routing/identity_group.ts";
import { JsonKeyScanner } from "../routing/json_keys.ts";
import type { KeyScanner } from "../routing/key_scanner.ts";
import { isMultipartForm } from "../routing/multipart_head.ts";
import { MultipartKeyScanner } from "../routing/multipart_keys.ts";
import { parsePriority } from "../routing/admission_queue.ts";
import { parseAllowedPeers, parseFallbackLevel } from "../routing/request_headers.ts";
import type { Tier } from "../routing/types.ts";
import type { ServiceIndex } from "../routing/view.ts";
import type { ForwardBody } from "./forward_body.ts";

/** The headers of a request that the forward path itself reads. */
export type RoutingHeaders = {
  contentLength: string;
  contentType: string;
  isStreamAccepted: boolean;
  /** `X-Otela-Identity-Group`; empty when there is none. */
  identityGroup: string;
  fallbackLevel: Tier;
  allowedPeers: readonly string[] | null;
  /** Greater goes first where requests wait. */
  priority: number;
  /** `X-Otela-Continue: off`: a broken stream ends with an error. */
  mayContinue: boolean;
  /** `X-Otela-Debug`: the answer tells why it came from there. */
  isDebug: boolean;
  /** Who asks, for fairness alone: its credential, else empty. */
  client: string;
};

/** One walk over the headers. */
export function readRoutingHeaders(headers: HeaderList): RoutingHeaders {
  const read: RoutingHeaders = {
    contentLength: "",
    contentType: "",
    isStreamAccepted: false,
    identityGroup: "",
    fallbackLevel: 0,
    allowedPeers: null,
    priority: 0,
    mayContinue: true,
    isDebug: false,
    client: "",
  };
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1];
    switch (headers[at]) {
      case "accept":
        read.isStreamAccepted = value.includes("text/event-stream");
        break;
      case "authorization":
        read.client = value;
        break;
      case "content-length":
        read.contentLength = value;
        break;
      case "content-type":
        read.contentType = value;
        break;
      case "x-otela-allowed-peers":
        read.allowedPeers = parseAllowedPeers(value);
        break;
      case "x-otela-continue":
        read.mayContinue = value.trim().toLowerCase() !== "off";
        break;
      case "x-otela-debug":
        read.isDebug = true;
        break;
      case "x-otela-fallback":
        read.fallbackLevel = parseFallbackLevel(value);
        break;
      case "x-otela-identity-group":
        read.identityGroup = value;
        break;
      case "x-otela-priority":
        read.priority = parsePriority(value);
        break;
    }
  }
  return read;
}

/** What was found. */
export type RequestMatch = { readonly keys: MatchKeys; readonly isStream: boolean };

const nothingAsked: RequestMatch = { keys: new Map(), isStream: false };

/**
 * Reads as much of the body as it takes to know what is asked for. The header, when it has a `=`, stands in for
 * the body, which is then not read at all.
 * @throws {OtelaError} `malformed_body`, or `body_too_large` when the key lies too deep in a long body.
 */
export async function matchRequest(
  body: ForwardBody,
  headers: RoutingHeaders,
  index: ServiceIndex,
  scanBytesMax: Bytes,
): Promise<RequestMatch> {
  const keys = matchKeysOfHeader(headers.identityGroup);
  if (keys) return { keys, isStream: headers.isStreamAccepted };
  if (body.announcedBytes === 0) return nothingAsked;
  const scanner = scannerFor(headers.contentType, index);
  if (!scanner) return nothingAsked;
  await scan(scanner, body, index, scanBytesMax);
  return { keys: scanner.keys(), isStream: scanner.isStream || headers.isStreamAccepted };
}

async function scan(
  scanner: KeyScanner,
  body: ForwardBody,
  index: ServiceIndex,
  scanBytesMax: Bytes,
): Promise<void> {
  let scannedBytes = 0;
  let state = "more";
  for (const piece of body.pieces) {
    scannedBytes += piece.length;
    state = scanner.push(piece);
  }
  // `stream` is worth a look in what has arrived, but not worth holding back a long body.
  while (state === "more" && !scanner.hasAllKeys) {
    if (scannedBytes >= scanBytesMax) throw keyTooDeep(index, scanBytesMax);
    const chunk = await body.read();
    if (!chunk) {
      state = scanner.finish();
      break;
    }
    scannedBytes += chunk.length;
    state = scanner.push(chunk);
  }
  if (state === "malformed") throw malformed();
}

/** Bodies that are neither JSON nor a form ask for nothing; most clients that send JSON say so, curl does not. */
function scannerFor(contentType: string, index: ServiceIndex): KeyScanner | undefined {
  if (contentType.includes("json") || contentType === "") {
    return new JsonKeyScanner(index.wantedAndStream);
  }
  if (isMultipartForm(contentType)) {
    return new MultipartKeyScanner(contentType, index.wantedAndStream);
  }
  return /^application\/x-www-form-urlencoded|^text\/plain/i.test(contentType)
    ? new JsonKeyScanner(index.wantedAndStream)
    : undefined;
}

function keyTooDeep(index: ServiceIndex, scanBytesMax: Bytes): OtelaError {
  const keys = index.wanted.names.map((name) => `"${name}"`).join(" or ");
  return new OtelaError(
    "body_too_large",
    `Cannot route the request as ${keys} must stand in the first ${scanBytesMax} bytes of its body; ` +
      "the header X-Otela-Identity-Group, such as model=NAME, says it without the body",
  );
}

function malformed(): OtelaError {
  return new OtelaError(
    "malformed_body",
    "Cannot route the request as its body must be well formed JSON or multipart/form-data",
  );
}
