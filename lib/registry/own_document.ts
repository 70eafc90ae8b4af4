// What does this node's own Automerge document hold, and how does it grow?
import { change, type Doc, free, init, save, stats } from "@automerge/automerge/slim";
import type { Claim } from "./claim.ts";
import { type Writable, writeMap } from "./document_differences.ts";
import type { ClaimOrigin } from "./load_claim.ts";
import { isEqual, type PlainMap } from "./plain_value.ts";

/**
 * This node's own document. It only ever grows by differences; its hashes repeat for equal inputs, as the
 * actor and the time of each change are pinned.
 */
export class OwnDocument {
  #doc: Doc<Writable>;
  #content: PlainMap;

  /**
   * @param actor 32 hexadecimal digits; never used for two documents of different content.
   * Requires that `startAutomerge` has settled.
   */
  constructor(claim: Claim, readonly origin: ClaimOrigin, actor: string) {
    this.#content = { ...plainOf(claim), origin };
    const empty = init<Writable>({ actor });
    this.#doc = change(empty, { time: 0 }, (root) => writeMap(root, {}, this.#content));
  }

  /** Writes what differs. @returns Whether anything did. */
  write(claim: Claim): boolean {
    const next: PlainMap = { ...plainOf(claim), origin: this.origin };
    if (isEqual(this.#content, next)) return false;
    this.#doc = change(this.#doc, { time: 0 }, (root) => writeMap(root, this.#content, next));
    this.#content = next;
    return true;
  }

  /** How long the history is: Automerge itself never cuts it. */
  get history(): { changeCount: number; operationCount: number } {
    const { numChanges, numOps } = stats(this.#doc);
    return { changeCount: numChanges, operationCount: numOps };
  }

  /** The whole document with its history. */
  save(): Uint8Array {
    return save(this.#doc);
  }

  /** Gives its memory back at once; nothing may be called afterwards. */
  end(): void {
    free(this.#doc);
  }
}

function plainOf(claim: Claim): PlainMap {
  const { role, addresses, relays, services, hardware, labels, wallet, versions } = claim;
  return { role, addresses, relays, services, hardware, labels, wallet, versions } as PlainMap;
}
