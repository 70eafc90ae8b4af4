// How do heads on one shared file system tell workers where they are?
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/ports.ts";
import { type Bytes, KiB, type Ms, secondMs } from "../base/units.ts";
import { parseBootstrapList } from "./bootstrap_list.ts";

/** Entries kept when several heads share one file; the oldest go first. */
const entriesMax = 64;
const bytesMax: Bytes = 256 * KiB;

/** How often a head looks whether its entries are still there. */
const keepEveryMs: Ms = 10 * secondMs;

/**
 * The addresses in a bootstrap file; none when it is not there yet, as workers may start before their head.
 * @throws When it cannot be read or is no list.
 */
export async function readBootstrapFile(path: string): Promise<string[]> {
  try {
    const { size } = await Deno.stat(path);
    if (size > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
    return parseBootstrapList(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/**
 * Puts the addresses of one head at the start of the file, in place of what it said before; other heads' stay behind
 * them. Written beside and renamed, so a reader never sees half of it. Of two heads that write in the
 * same moment one may lose; `BootstrapFileKeeper` writes again then.
 * @param peer Whose addresses these are.
 * @param multiaddrs With `/p2p/<peer>`; empty removes them.
 */
export async function writeBootstrapFile(
  path: string,
  peer: string,
  multiaddrs: readonly string[],
): Promise<void> {
  // A damaged file is replaced: it helps nobody, and the head that writes it is there to be found.
  const before: string[] = await readBootstrapFile(path).catch(() => []);
  const others = before.filter((address) => !address.endsWith(`/p2p/${peer}`));
  const bootstraps = [...multiaddrs, ...others].slice(0, entriesMax);
  const beside = `${path}.${peer.slice(-8)}.new`;
  await Deno.writeTextFile(beside, JSON.stringify({ bootstraps }, null, 2) + "\n");
  await Deno.rename(beside, path);
}

/** Keeps the addresses of this node in a bootstrap file, from `start` to `stop`, whatever other heads write. */
export class BootstrapFileKeeper {
  readonly #path: string;
  readonly #peer: string;
  readonly #log: Log;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #work: Promise<void> | undefined;
  #isStopped = false;

  constructor(path: string, peer: string, log: Log) {
    this.#path = path;
    this.#peer = peer;
    this.#log = log;
  }

  start(multiaddrs: readonly string[]): void {
    this.#work = this.#keep(multiaddrs);
  }

  /** Removes them; does nothing when it was not started. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    if (!this.#work) return;
    await this.#work;
    await this.#write([]);
  }

  async #keep(multiaddrs: readonly string[]): Promise<void> {
    const listed: string[] = await readBootstrapFile(this.#path).catch(() => []);
    if (!multiaddrs.every((address) => listed.includes(address))) await this.#write(multiaddrs);
    if (!this.#isStopped) this.#timer = setTimeout(() => this.start(multiaddrs), keepEveryMs);
  }

  async #write(multiaddrs: readonly string[]): Promise<void> {
    try {
      await writeBootstrapFile(this.#path, this.#peer, multiaddrs);
    } catch (error) {
      this.#log.warn("bootstrap.file_failed", { path: this.#path, error: messageOf(error) });
    }
  }
}
