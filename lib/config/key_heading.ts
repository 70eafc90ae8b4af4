// Under which heading does a person look for a key?
import { assert } from "../base/assert.ts";
import type { ConfigKey } from "./key.ts";

/** In the order in which help and reference have them; the first that matches counts. */
const headings: readonly (readonly [heading: string, names: RegExp])[] = [
  ["Which node", /^(config|config_dir|state_dir|instance)$/],
  ["What it is", /^(role|mode|labels)$|^network\./],
  ["Service", /^services?(\.|$)/],
  ["First peers", /^bootstrap\./],
  ["Clients", /^(port|host)$|^client\./],
  ["Peers", /^(tcpport|public-addr)$|^(mesh|peers)\./],
  ["Requests", /^lb-policy$|^(routing|body|limits|drain)\./],
  ["Registry", /^cleanslate$|^registry\./],
  ["Log", /^loglevel$|^log\./],
];

const withoutEffect = "Without effect";
const refused = "Refused";

/** Every heading, in order. */
export const keyHeadings: readonly string[] = [
  ...headings.map(([heading]) => heading),
  withoutEffect,
  refused,
];

/** One of {@link keyHeadings}. */
export function headingOf({ name, status, protects }: ConfigKey): string {
  if (status !== "implemented") return protects ? refused : withoutEffect;
  const found = headings.find(([, names]) => names.test(name));
  assert(found !== undefined, `"${name}" has a heading`);
  return found[0];
}
