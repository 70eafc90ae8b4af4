// Which modules run in threads of their own, so that an executable must carry each as an entry?

/** How our code names such a module, before and after bundling. */
const pattern = /new URL\(\s*"(\.\.?\/[^"]+\.ts)",\s*import\.meta\.url,?\s*\)/g;

/** Threads by the text that names them in the code: `../node/thread.ts` → `lib/node/thread.ts`. */
export type ThreadModules = ReadonlyMap<string, string>;

/**
 * Finds the threads that some modules start.
 * @param modules Texts by path from the root of the project.
 * @throws {Error} When two modules mean different threads by one text, as a bundle could not tell them apart.
 */
export function threadModules(modules: Readonly<Record<string, string>>): ThreadModules {
  const threads = new Map<string, string>();
  for (const [path, text] of Object.entries(modules)) {
    for (const [, named] of text.matchAll(pattern)) {
      const { pathname } = new URL(named, `file:///${path}`);
      const meant = pathname.slice(1);
      const other = threads.get(named) ?? meant;
      if (other !== meant) {
        throw new Error(`Cannot bundle threads: "${named}" means both ${other} and ${meant}`);
      }
      threads.set(named, meant);
    }
  }
  return threads;
}

/**
 * Names the threads from where the bundle lies. Each bundle lies where its entry lay, with `.js` at its end.
 * @param path Of the bundle, from the same root as the threads.
 * @throws {Error} When it names a module that is no known thread.
 */
export function nameThreads(text: string, path: string, threads: ThreadModules): string {
  const depth = path.split("/").length - 1;
  const toRoot = depth === 0 ? "./" : "../".repeat(depth);
  return text.replaceAll(pattern, (_, named: string) => {
    const thread = threads.get(named);
    if (thread === undefined) {
      throw new Error(`Cannot bundle ${path}: "${named}" is no thread of ours`);
    }
    return `new URL("${toRoot}${thread.replace(/\.ts$/, ".js")}", import.meta.url)`;
  });
}
