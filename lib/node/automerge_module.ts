// How does a node come to Automerge without keeping its text in memory?
import { OtelaError } from "../base/errors.ts";
import { useAutomerge } from "../registry/automerge_use.ts";
import type { FromCompiler } from "./automerge_compiler_thread.ts";

/**
 * Compiles Automerge in a thread that ends with it, and makes it usable in this one. The text of the module and
 * what decoding it leaves behind took 30 MB of a node that is idle most of its life.
 * @returns The compiled module, for the loader threads.
 * @throws {OtelaError} `node_failed` when it cannot be compiled.
 */
export async function startAutomergeModule(): Promise<WebAssembly.Module> {
  const module = await compileInThread();
  await useAutomerge(module);
  return module;
}

async function compileInThread(): Promise<WebAssembly.Module> {
  const { promise, resolve, reject } = Promise.withResolvers<WebAssembly.Module>();
  const thread = new Worker(new URL("./automerge_compiler_thread.ts", import.meta.url), {
    type: "module",
    name: "automerge compiler",
    deno: { permissions: "none" },
  });
  thread.onmessage = ({ data }: MessageEvent<FromCompiler>) => {
    if ("module" in data) resolve(data.module);
    else reject(failed(data.error));
  };
  thread.onerror = (event) => {
    event.preventDefault(); // Else it would end this thread too.
    reject(failed(event.message));
  };
  try {
    return await promise;
  } finally {
    thread.terminate();
  }
}

function failed(message: string): OtelaError {
  return new OtelaError("node_failed", `Cannot compile Automerge: ${message}`);
}
