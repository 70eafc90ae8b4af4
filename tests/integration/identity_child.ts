// What does one process of the identity tests do with real files? It says how it went, as JSON.
import { OtelaError } from "../../lib/base/errors.ts";
import { loadOrCreateIdentity } from "../../lib/identity/identity_file.ts";
import { acquireInstanceLock } from "../../lib/identity/instance_lock.ts";

function say(value: unknown): void {
  console.log(JSON.stringify(value));
}

/** Waits until the parent closes our standard input. */
async function untilStdinEnds(): Promise<void> {
  for await (const _ of Deno.stdin.readable);
}

const [what, path] = Deno.args;
try {
  if (what === "key") {
    say({ started: true });
    await untilStdinEnds(); // So that all of them begin at once.
    const { identity, isNew, warnings } = await loadOrCreateIdentity(path);
    say({ peerId: identity.peerId, isNew, warnings });
  } else {
    await using lock = await acquireInstanceLock([path]);
    say({ pid: Deno.pid, generation: lock.held[0].generation });
    await untilStdinEnds();
  }
} catch (error) {
  if (!(error instanceof OtelaError)) throw error;
  say({ code: error.code, message: error.message });
}
