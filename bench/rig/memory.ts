// How much memory does a process hold?

const lookAgainAfterMs = 500;

/** Resident memory in MB (10⁶ bytes) as Linux counts it, shared pages of the executable included. */
export async function memoryMb(pid: number): Promise<number> {
  // Deno itself reads /proc only when it may do everything.
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/status`] }).output();
  const status = new TextDecoder().decode(stdout);
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kib === undefined) {
    throw new Error(`Process ${pid} has no resident memory, or this is not Linux`);
  }
  return Number(kib) * 1024 / 1e6;
}

/** The least that a process holds while it is left alone for `settleMs`: start-up garbage goes only after a while. */
export async function settledMemoryMb(pid: number, settleMs: number): Promise<number> {
  const endMs = performance.now() + settleMs;
  let least = await memoryMb(pid);
  while (performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, lookAgainAfterMs));
    least = Math.min(least, await memoryMb(pid));
  }
  return least;
}
