// Which addresses does a bootstrap source give now?
import { resolveTxt } from "node:dns/promises";
import { messageOf, OtelaError } from "../base/errors.ts";
import { type Bytes, KiB, type Ms, secondMs } from "../base/units.ts";
import { parseBootstrapList } from "./bootstrap_list.ts";
import { type BootstrapSource, sourceName } from "./bootstrap_source.ts";
import { readBootstrapFile } from "./bootstrap_file.ts";

/** An answer or file of 256 addresses with room to spare. */
export const listBytesMax: Bytes = 256 * KiB;
const answerWithinMs: Ms = 5 * secondMs;
/** `dnsaddr` records may point to further names: so many levels, so many names in all. */
const dnsDepthMax = 3;
const dnsNamesMax = 16;

/** TXT records of a name, each as its strings (port; `node:dns` has the adapter). */
export type ResolveTxt = (name: string) => Promise<string[][]>;

/**
 * The addresses a source gives; unchecked. A file that is not there yet gives none.
 * @throws {OtelaError} `peer_unreachable` when the source does not answer or makes no sense.
 */
export async function resolveBootstrap(
  source: Exclude<BootstrapSource, { kind: "dht" }>,
  txt: ResolveTxt = resolveTxt,
): Promise<string[]> {
  try {
    switch (source.kind) {
      case "address":
        return [source.address];
      case "file":
        return await readBootstrapFile(source.path);
      case "url":
        return parseBootstrapList(await fetchText(source.url));
      case "dnsaddr":
        return await resolveDnsaddr(source.host, source.peer, txt);
    }
  } catch (error) {
    throw new OtelaError(
      "peer_unreachable",
      `Cannot ask ${sourceName(source)} for nodes as it must answer with a list: ${
        messageOf(error)
      }`,
      { cause: error },
    );
  }
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(answerWithinMs),
    headers: { accept: "application/json" },
  });
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of response.body) {
    byteCount += chunk.byteLength;
    if (byteCount > listBytesMax) throw new Error(`it has more than ${listBytesMax} bytes`);
    chunks.push(chunk);
  }
  return await new Blob(chunks as Uint8Array<ArrayBuffer>[]).text();
}

async function resolveDnsaddr(
  host: string,
  peer: string | undefined,
  txt: ResolveTxt,
): Promise<string[]> {
  const found: string[] = [];
  let names = [host];
  let asked = 0;
  for (let depth = 0; depth < dnsDepthMax && names.length > 0; depth++) {
    const further: string[] = [];
    for (const name of names) {
      if (++asked > dnsNamesMax) break;
      for (const record of await txt(`_dnsaddr.${name}`)) {
        const address = /^dnsaddr=(.+)$/.exec(record.join(""))?.[1];
        const next = /^\/dnsaddr\/([^/]+)/.exec(address ?? "")?.[1];
        if (next) further.push(next);
        else if (address && (!peer || address.endsWith(`/p2p/${peer}`))) found.push(address);
      }
    }
    names = further;
  }
  return found;
}
