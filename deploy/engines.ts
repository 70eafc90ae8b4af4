// Which engines does the demo mesh put its nodes in front of?
import { fileURLToPath } from "node:url";
import { messageOf } from "../lib/base/errors.ts";
import { secondMs } from "../lib/base/units.ts";
import { Program } from "../tests/support/program.ts";

/** An engine that answers. */
export type DemoEngine = {
  readonly url: string;
  /** Ids that its `/v1/models` lists; at least one. */
  readonly models: readonly string[];
};

/** What `--engine` said. */
export type EngineChoice =
  | { readonly kind: "built_in" }
  /** A shell command; `{port}` stands for the port on which it must listen. */
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "running"; readonly url: string };

/** A real engine loads a model of several gigabytes first (guess; a small one takes a second). */
const engineReadyMs = 300 * secondMs;
const pollMs = 100;

/**
 * Reads the values of `--engine`: none, one command, or URLs of running engines.
 * @throws {Error} When a command has no `{port}`, so that two of them would collide.
 */
export function parseEngines(values: readonly string[]): EngineChoice[] {
  if (values.length === 0) return [{ kind: "built_in" }];
  return values.map((value) => {
    if (/^https?:\/\//.test(value)) return { kind: "running", url: value.replace(/\/+$/, "") };
    if (value.includes("{port}")) return { kind: "command", command: value };
    throw new Error(
      `Cannot use --engine "${value}": it is neither a URL nor a command with {port}`,
    );
  });
}

/**
 * Starts one engine, or finds a running one, and waits until it lists its models.
 * @param index Counted from 0; built-in engines differ by it.
 * @param own Takes over what must be ended.
 * @throws {Error} When it ends or does not list a model in time.
 */
export async function startDemoEngine(
  choice: EngineChoice,
  index: number,
  { own, signal }: { own: AsyncDisposableStack; signal: AbortSignal },
): Promise<DemoEngine> {
  if (choice.kind === "running") return await waitForModels(choice.url, undefined, signal);
  const port = freePort();
  const program = own.use(
    choice.kind === "built_in"
      ? builtInEngine(index, port, signal)
      : shellEngine(choice.command.replaceAll("{port}", String(port)), signal),
  );
  return await waitForModels(`http://127.0.0.1:${port}`, program, signal);
}

/** Both serve one model, and the second one another besides: so one sees who serves what. */
function builtInEngine(index: number, port: number, signal: AbortSignal): Program {
  const script = fileURLToPath(new URL("../tests/support/engine.ts", import.meta.url));
  const models = index === 0 ? "swiss-chat" : "swiss-chat,alpine-embed";
  return new Program({
    command: Deno.execPath(),
    args: ["run", "--no-prompt", "--no-config", "--allow-net=127.0.0.1", script]
      .concat(["--port", String(port), "--models", models, "--name", `engine-${index + 1}`]),
    env: Deno.env.toObject(),
    signal,
  });
}

function shellEngine(command: string, signal: AbortSignal): Program {
  const cwd = Deno.env.get("INIT_CWD"); // Where the person typed the task; the task itself runs elsewhere.
  return new Program({
    command: "/bin/sh",
    args: ["-c", command],
    env: Deno.env.toObject(),
    cwd,
    signal,
  });
}

/** Free now; engines take a number only, so another process could be quicker, and the demo would say so. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function waitForModels(
  url: string,
  program: Program | undefined,
  signal: AbortSignal,
): Promise<DemoEngine> {
  const endsAtMs = performance.now() + (program ? engineReadyMs : 5 * secondMs);
  let last = "";
  while (performance.now() < endsAtMs) {
    signal.throwIfAborted();
    if (program && !program.isRunning) {
      await program.ended;
      throw new Error(`The engine ended before it answered: ${program.stderr.lastLine}`);
    }
    try {
      const response = await fetch(`${url}/v1/models`, { signal });
      const { data } = await response.json() as { data: { id: string }[] };
      if (data.length > 0) return { url, models: data.map(({ id }) => id) };
      last = "it lists no model";
    } catch (error) {
      last = messageOf(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`No engine answers at ${url}/v1/models: ${last}`);
}
