// Where do arguments and signals come in, and where does the exit code go out?
import { run } from "./cli/run.ts";
import { stopSignals } from "./lib/launcher/signals.ts";

/** For a help that goes into a file or a pipe, or to a terminal that does not know its width. */
const columnsDefault = 100;

if (import.meta.main) {
  const encoder = new TextEncoder();
  const code = await run({
    args: Deno.args,
    env: Deno.env.toObject(),
    cwd: Deno.cwd(),
    columns: (Deno.stdout.isTerminal() && Deno.consoleSize().columns) || columnsDefault,
    out: (line) => writeAll(Deno.stdout, encoder.encode(`${line}\n`)),
    err: (line) => writeAll(Deno.stderr, encoder.encode(`${line}\n`)),
    ...(Deno.stderr.isTerminal()
      ? { progress: (line) => writeAll(Deno.stderr, encoder.encode(`\r\x1b[K${line}`)) }
      : {}),
    signals: (listener) => {
      const listeners = stopSignals.map((name) => [name, () => listener(name)] as const);
      for (const [name, hear] of listeners) Deno.addSignalListener(name, hear);
      return () => listeners.forEach(([name, hear]) => Deno.removeSignalListener(name, hear));
    },
  });
  Deno.exit(code);
}

/** At once and whole: the process may end right after its last line. A reader that has gone is no reason to fail. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  try {
    for (let sent = 0; sent < bytes.length;) sent += stream.writeSync(bytes.subarray(sent));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
