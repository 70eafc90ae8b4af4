// How does a node come to Automerge without keeping its text in memory?
import { OtelaError } from "../base/errors.ts";
import { useAutomerge } from "../registry/automerge_use.ts";
import type { HelperThreads } from "../config/helper_threads.ts";
import type { FromCompiler } from "./automerge_compiler_thread.ts";

/**
 * Compiles Automerge in a thread that ends with it, and makes it usable in this one. The text of the module and
 * what decoding it leaves behind took 30 MB of a node that is idle most of its life.
 * @returns The compiled module, for the loader threads.
 * @throws {OtelaError} `node_failed` when it cannot be compiled.
 */
export async function startAutomergeModule(helpers: HelperThreads): Promise<WebAssembly.Module> {
  const module = await compileInThread(helpers);
  await useAutomerge(module);
  return module;
}

async function compileInThread(helpers: HelperThreads): Promise<WebAssembly.Module> {
  const { promise, resolve, reject } = Promise.withResolvers<WebAssembly.Module>();
  const thread = helpers.start("automerge compiler", {
    said: (data) => {
      const answer = data as FromCompiler;
      if ("module" in answer) resolve(answer.module);
      else reject(failed(answer.error));
    },
    failed: (message) => reject(failed(message)),
  });
  try {
    return await promise;
  } finally {
    thread.end();
  }
}

function failed(message: string): OtelaError {
  return new OtelaError("node_failed", `Cannot compile Automerge: ${message}`);
}
