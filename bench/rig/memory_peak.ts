// How much more memory did a process hold at its worst?
import { memoryMb } from "./memory.ts";

const lookAgainAfterMs = 250;

/** Runs `work` and watches. @returns What it returned, and for each process the most it held in MB. */
export async function memoryPeaks<T>(
  pids: readonly number[],
  work: () => Promise<T>,
): Promise<{ result: T; peaksMb: number[] }> {
  const peaksMb = await Promise.all(pids.map(memoryMb));
  const running = work();
  let isOver = false;
  const over = running.then(() => {}, () => {}).then(() => void (isOver = true));
  while (!isOver) {
    for (const [at, pid] of pids.entries()) {
      peaksMb[at] = Math.max(peaksMb[at], await memoryMb(pid));
    }
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, lookAgainAfterMs))]);
  }
  return { result: await running, peaksMb };
}
