// How do the nodes of one process share what reading documents costs?
import { createHash } from "node:crypto";
import type { Log } from "../base/ports.ts";
import type { HelperThreads } from "../config/helper_threads.ts";
import type { LoadResult } from "../registry/peer_claims.ts";
import { startAutomergeModule } from "./automerge_module.ts";
import { ClaimLoader, type ClaimLoaderOptions } from "./claim_loader.ts";
import type { ClaimLoading } from "./registry_driver.ts";

/** A loader until it is disposed of; what it has still to answer then is refused as `overloaded`. */
export type ClaimLoaderHold = ClaimLoading & Disposable;

/** Some megabytes of claims; what was forgotten is only read again. A guess. */
const rememberedMax = 1_024;
const overloaded: LoadResult = { type: "refused", reason: "overloaded" };

/**
 * One loader thread for all nodes of a process, and one reading of a document that several of them get: a process
 * with a hundred nodes (the library; tests of whole meshes) would otherwise run a hundred threads of 40 MB. A
 * process with one node remembers nothing.
 */
export class SharedClaimLoader {
  /** In the order of their coming. */
  readonly #holders = new Set<{ readonly log: Log }>();
  /** What was read lately, by digest, the oldest first. */
  readonly #read = new Map<string, Promise<LoadResult>>();
  #loader: ClaimLoader | undefined;

  /** @param options Its log is told of trouble as long as this hold is the oldest. */
  hold({ log, ...options }: ClaimLoaderOptions): ClaimLoaderHold {
    const holder = { log };
    this.#holders.add(holder);
    const loader = this.#loader ??= new ClaimLoader({ ...options, log: this.#logOfOldest() });
    let isOver = false;
    return {
      load: async (document) => {
        if (isOver) return overloaded;
        const result = await this.#load(loader, document);
        return isOver ? overloaded : result;
      },
      [Symbol.dispose]: () => {
        isOver = true;
        if (!this.#holders.delete(holder)) return;
        if (this.#holders.size <= 1) this.#read.clear();
        if (this.#holders.size > 0) return;
        loader[Symbol.dispose]();
        this.#loader = undefined;
      },
    };
  }

  #load(loader: ClaimLoader, document: Uint8Array): Promise<LoadResult> {
    if (this.#holders.size === 1) return loader.load(document);
    const digest = createHash("sha256").update(document).digest("base64");
    const known = this.#read.get(digest);
    if (known) return known;
    const reading = loader.load(document);
    this.#read.set(digest, reading);
    if (this.#read.size > rememberedMax) {
      this.#read.delete(this.#read.keys().next().value!);
    }
    reading.then(({ type }) => {
      // A refusal can come from a busy machine: each node has its own try.
      if (type === "refused") this.#read.delete(digest);
    });
    return reading;
  }

  #logOfOldest(): Log {
    const oldest = (): Log | undefined => this.#holders.values().next().value?.log;
    return {
      debug: (...line) => oldest()?.debug(...line),
      info: (...line) => oldest()?.info(...line),
      warn: (...line) => oldest()?.warn(...line),
      error: (...line) => oldest()?.error(...line),
    };
  }
}

/** Of this process. */
export const sharedClaimLoader = new SharedClaimLoader();

let automerge: Promise<WebAssembly.Module> | undefined;

/** Automerge, compiled once in a process. @throws {OtelaError} `node_failed` when it cannot be compiled. */
export function sharedAutomerge(helpers: HelperThreads): Promise<WebAssembly.Module> {
  if (automerge) return automerge;
  const compiling = automerge = startAutomergeModule(helpers);
  compiling.catch(() => automerge = undefined); // The next node tries again.
  return compiling;
}
