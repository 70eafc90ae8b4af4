// How do we run a real node as a process of its own, away from the user's files?
import project from "../../deno.json" with { type: "json" };
import type { Ms } from "../../lib/base/units.ts";
import { secondMs } from "../../lib/base/units.ts";
import { Program } from "./program.ts";

/** What `start --json` prints first. */
export type ReadyLine = {
  readonly event: "ready";
  readonly peer_id: string;
  /** URL of the client door. */
  readonly http: string;
  readonly multiaddrs: readonly string[];
};

/** How to start a node. */
export type NodeOptions = {
  /** Folder for everything the node writes, its home included; the caller removes it. */
  readonly home: string;
  /** Arguments after `start`; free ports, JSON events and the folders are set already. */
  readonly args?: readonly string[];
  /** `default` for those of the configuration; free ones unless said otherwise. */
  readonly ports?: "default";
  /** Added to the small environment that a node gets, or put in its place. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long a start may take; the first one on a machine downloads packages. */
  readonly readyMs?: Ms;
  /** When it aborts, the node is ended. */
  readonly signal?: AbortSignal;
  /** Absolute path of an executable to run in place of the source. */
  readonly exe?: string;
};

/** A node that has said it is ready. Leaving an `await using` scope ends it. */
export class NodeProcess implements AsyncDisposable {
  constructor(readonly program: Program, readonly ready: ReadyLine) {}

  get peerId(): string {
    return this.ready.peer_id;
  }

  /** URL of the client door, without a slash at the end. */
  get http(): string {
    return this.ready.http;
  }

  /** Addresses by which others enter the mesh here, each ending in `/p2p/…`. */
  get multiaddrs(): readonly string[] {
    return this.ready.multiaddrs;
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    this.program.signal("SIGKILL");
    await this.program.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.end();
  }
}

/**
 * Starts a node from source on free ports of loopback and waits until it is ready.
 * @throws {Error} With the node's own last line when it ends instead or is too late; it is gone by then.
 */
export async function startNode(options: NodeOptions): Promise<NodeProcess> {
  const ports = options.ports === "default" ? [] : ["--port", "0", "--tcpport", "0"];
  const program = runOtela(["start", "--json", ...ports, ...options.args ?? []], options);
  try {
    const ready = await program.stdout.waitFor(readyLine, options.readyMs ?? 20 * secondMs);
    return new NodeProcess(program, ready);
  } catch (error) {
    const isOver = program.stdout.isEnded;
    const { code } = isOver ? await program.ended : await program.end();
    const how = isOver ? `ended with exit code ${code}` : "is not ready in time";
    throw new Error(`A node ${how}: ${program.stderr.lastLine}`, { cause: error });
  }
}

/** Runs any `otela` command line in its own process, from source unless told otherwise, with `home` as its home. */
export function runOtela(
  args: readonly string[],
  { home, env = {}, signal, exe }: Pick<NodeOptions, "home" | "env" | "signal" | "exe">,
): Program {
  const [command, ...before] = exe === undefined ? sourceCommand() : [exe];
  return new Program({
    command,
    args: [...before, ...args],
    env: { ...exe === undefined ? nodeEnvironment(home) : bareEnvironment(home), ...env },
    cwd: home,
    signal,
  });
}

/** The command of task `otela` as words, so that what we run has just the permissions users give. */
export function sourceCommand(): string[] {
  const words = project.tasks.otela.split(" ");
  const flags = words.slice(words.indexOf("run"), words.indexOf("main.ts"));
  const root = (path: string) => new URL(`../../${path}`, import.meta.url).pathname;
  return [Deno.execPath(), ...flags, `--config=${root("deno.json")}`, root("main.ts")];
}

/** Nothing of the user's: no `OF_…`, no Slurm job, no configuration; but the packages already downloaded. */
export function nodeEnvironment(home: string): Record<string, string> {
  const environment: Record<string, string> = {
    ...bareEnvironment(home),
    DENO_DIR: denoDirectory(),
  };
  for (const name of ["DENO_TLS_CA_STORE", "DENO_CERT", "NPM_CONFIG_REGISTRY"]) {
    const value = Deno.env.get(name);
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/** Nothing of the user's, and nothing of Deno's: what an executable gets. */
function bareEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_RUNTIME_DIR: home,
    PATH: Deno.env.get("PATH") ?? "",
    NO_COLOR: "1",
  };
}

/** Where this very process keeps its packages, by Deno's own rules. */
function denoDirectory(): string {
  const explicit = Deno.env.get("DENO_DIR");
  if (explicit) return explicit;
  const home = Deno.env.get("HOME") ?? "";
  if (Deno.build.os === "darwin") return `${home}/Library/Caches/deno`;
  return `${Deno.env.get("XDG_CACHE_HOME") || `${home}/.cache`}/deno`;
}

function readyLine(line: string): ReadyLine | undefined {
  const event: { event?: unknown } = JSON.parse(line); // Standard output of `--json` holds nothing else.
  return event.event === "ready" ? event as ReadyLine : undefined;
}
