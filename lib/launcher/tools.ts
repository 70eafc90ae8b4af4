// Which of the tools that a node may run are on this machine, and where exactly?
import type { ToolName, Tools } from "../config/thread_messages.ts";
import { toolNames } from "../config/thread_messages.ts";

/**
 * Looks the tools up as a shell would.
 * @param path Value of `PATH`; parts that are not absolute are skipped, since a permission needs an absolute path.
 * @param isExecutable Says whether a file is there and may be run; see {@link isExecutableFile}.
 * @returns Absolute paths of those found; a tool that is nowhere is absent.
 */
export function findTools(path: string, isExecutable: (file: string) => boolean): Tools {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  const found: Partial<Record<ToolName, string>> = {};
  for (const name of toolNames) {
    const file = folders.map((folder) => `${folder.replace(/\/+$/, "")}/${name}`)
      .find(isExecutable);
    if (file !== undefined) found[name] = file;
  }
  return found;
}

/** Whether `file` is a file with an execute bit, links followed. Unreadable folders count as no. */
export function isExecutableFile(file: string): boolean {
  try {
    const facts = Deno.statSync(file);
    return facts.isFile && ((facts.mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}
