// How is Automerge compiled without reading a file?
import { automergeWasmBase64 } from "@automerge/automerge/automerge.wasm.base64";
import { type Bytes, MiB } from "../base/units.ts";
import { useAutomerge } from "./automerge_use.ts";
import { capWasmMemory } from "./wasm_memory.ts";

/** All documents of a thread together; a claim's takes 18 KB, a hostile one what it gets. */
const memoryBytesMax: Bytes = 64 * MiB;

/**
 * Compiles Automerge, in about 40 ms. This module holds its text of 4 MB for the life of the thread: a node
 * compiles in a thread that ends, see `lib/node/automerge_module.ts`.
 * @returns For `useAutomerge`, in any thread.
 */
export function compileAutomerge(): Promise<WebAssembly.Module> {
  const text = atob(automergeWasmBase64);
  const binary = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) binary[at] = text.charCodeAt(at);
  return WebAssembly.compile(capWasmMemory(binary, memoryBytesMax));
}

/**
 * Compiles Automerge and makes it usable here; must have settled before the first `OwnDocument` is made.
 * @returns The compiled module, for the loader threads.
 */
export function startAutomerge(): Promise<WebAssembly.Module> {
  return compileAutomerge().then((module) => useAutomerge(module).then(() => module));
}
