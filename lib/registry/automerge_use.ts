// How does a thread begin to use Automerge that another has compiled?
import { initializeWasm } from "@automerge/automerge/slim";

/** Makes Automerge usable in this thread (5 ms). @param module From `startAutomerge`. */
export function useAutomerge(module: WebAssembly.Module): Promise<void> {
  // The declared parameter lacks the module form, which the generated glue accepts (3.5.0).
  return initializeWasm(module as unknown as Uint8Array);
}
