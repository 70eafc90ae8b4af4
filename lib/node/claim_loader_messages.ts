// What do the node and its claim loader say to each other?
import type { LoadedClaim } from "../registry/load_claim.ts";

/** From the node; `start` comes first and once. */
export type ToLoader =
  | { readonly type: "start"; readonly module: WebAssembly.Module }
  | { readonly type: "load"; readonly document: Uint8Array };

/** From the thread: `ready` once, then one answer for each `load`, in order; nothing after `crashed`. */
export type FromLoader =
  | { readonly type: "ready" }
  | { readonly type: "loaded"; readonly loaded: LoadedClaim }
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "crashed"; readonly message: string };
