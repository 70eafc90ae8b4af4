// How does a thread give back what its start has left behind?
import { type Ms, secondMs } from "../base/units.ts";

/** Once what a start sets going has come to rest, and once more when a large mesh has been learnt. Guesses. */
const restsMs: readonly Ms[] = [2 * secondMs, 15 * secondMs];

/** `--expose-gc` among the V8 flags of our tasks and executables gives it; elsewhere it is absent. */
type Collector = {
  gc?: (how: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;
};

/**
 * Collects garbage some seconds from now. V8 does so when it needs memory, and an idle node never does:
 * sources, decoders and tables of the start stayed for hours (20 MB of a worker's 165), and 55 KB of each of
 * 2,000 peers that were learnt with it.
 */
export function collectStartGarbage(): void {
  const { gc } = globalThis as Collector;
  if (!gc) return;
  // The last resort also gives free pages back; 20 ms each, before many depend on us.
  const collect = () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
  for (const restMs of restsMs) Deno.unrefTimer(setTimeout(collect, restMs));
}
