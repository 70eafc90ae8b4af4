// What runs in the thread that reads documents of others? It has no permissions and may be ended at any time.
import { inflateRawSync } from "node:zlib";
import { messageOf } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { useAutomerge } from "../registry/automerge_use.ts";
import { checkDocumentShape } from "../registry/document_shape.ts";
import { loadClaim } from "../registry/load_claim.ts";
import type { FromLoader, ToLoader } from "./claim_loader_messages.ts";

/** The part of a thread's global scope that is used here. */
type ThreadScope = {
  onmessage: ((event: MessageEvent<ToLoader>) => void) | null;
  postMessage(message: FromLoader): void;
};

const scope = globalThis as unknown as ThreadScope;

scope.onmessage = ({ data }) => {
  if (data.type === "start") {
    useAutomerge(data.module).then(
      () => scope.postMessage({ type: "ready" }),
      (error) => scope.postMessage({ type: "crashed", message: messageOf(error) }),
    );
    return;
  }
  scope.postMessage(answer(data.document));
};

function answer(document: Uint8Array): FromLoader {
  try {
    checkDocumentShape(document, inflate);
    return { type: "loaded", loaded: loadClaim(document) };
  } catch (error) {
    // After a trap the memory of Automerge is in no defined state: this thread is of no use any more.
    const type = error instanceof WebAssembly.RuntimeError ? "crashed" : "refused";
    return { type, message: messageOf(error) };
  }
}

function inflate(bytes: Uint8Array, bytesMax: Bytes): Uint8Array {
  return inflateRawSync(bytes, { maxOutputLength: bytesMax });
}
