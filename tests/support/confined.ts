// What must a thread with the permissions of a node be refused, and what must it be given?
import { equal, match } from "node:assert/strict";

/** Everything else that the probe tries must be refused. */
const needed = ["stateWrite", "stateRead", "network", "socket", "hostname"];

/**
 * Checks what the probe (`threads/probe.ts`) found.
 * An executable finds no module that it does not carry, which is as good as a refusal.
 * @param results By trial: `allowed`, or the error.
 */
export function assertConfined(results: Readonly<Record<string, string>>): void {
  for (const name of needed) equal(results[name], "allowed", name);
  for (const [name, result] of Object.entries(results)) {
    if (needed.includes(name)) continue;
    const refusal = name === "processEnvironment"
      ? /process.env is empty/
      : /^(NotCapable|PermissionDenied|TypeError: (Requires import access|Module not found))/;
    match(result, refusal, `${name}: ${result}`);
  }
}
