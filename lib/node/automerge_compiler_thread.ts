// What runs in the short-lived thread that compiles Automerge?
import { messageOf } from "../base/errors.ts";
import { compileAutomerge } from "../registry/automerge.ts";

/** From the thread: its only message. */
export type FromCompiler = { readonly module: WebAssembly.Module } | { readonly error: string };

const scope = globalThis as unknown as { postMessage(message: FromCompiler): void };

compileAutomerge().then(
  (module) => scope.postMessage({ module }),
  (error) => scope.postMessage({ error: messageOf(error) }),
);
