// Which process is this, among all that may ever look at one directory?

/** What tells one process from every other, on this host or on another one. */
export type ProcessMark = {
  readonly host: string;
  /** Differs after each boot; empty where unknown. */
  readonly bootId: string;
  /** A pid means something only among processes of one namespace; empty where unknown. */
  readonly pidNamespace: string;
  readonly pid: number;
  /** Clock ticks from boot to start: a reused pid has another. 0 where unknown. */
  readonly startTicks: number;
};

/** Answers whether processes run (port; `system_processes.ts` is the adapter, tests have made-up hosts). */
export interface Processes {
  /** This process. */
  self(): Promise<ProcessMark>;
  /** Whether that process still runs; `unknown` when it cannot be seen from here. */
  stateOf(mark: ProcessMark): Promise<"running" | "gone" | "unknown">;
}

/** What `/proc/<pid>/stat` says, as far as it matters. */
export type ProcessStat = { readonly state: string; readonly startTicks: number };

/**
 * State and start time from `/proc/<pid>/stat` (proc(5): fields 3 and 22).
 * @param text The program's name, field 2, may hold blanks and brackets: only what follows the last one counts.
 * @returns `undefined` when the text is something else.
 */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const end = text.lastIndexOf(")");
  if (end < 0) return undefined;
  const fields = text.slice(end + 2).trim().split(" ");
  const startTicks = Number(fields[19]);
  return startTicks > 0 ? { state: fields[0], startTicks } : undefined;
}

/**
 * Judges a process of which we know what `/proc` says.
 * @param stat Of its pid now; `undefined` when there is no such process.
 */
export function judgeProcess(
  mark: ProcessMark,
  self: ProcessMark,
  stat: ProcessStat | undefined,
): "running" | "gone" | "unknown" {
  if (!isVisible(mark, self)) return "unknown";
  if (stat === undefined || stat.startTicks !== mark.startTicks) return "gone";
  // A zombie waits for its parent and does nothing else any more.
  return stat.state === "Z" || stat.state === "X" ? "gone" : "running";
}

/** Whether a pid means the same to both: same host, boot and namespace, all of them known. */
export function isVisible(mark: ProcessMark, self: ProcessMark): boolean {
  return self.bootId !== "" && self.pidNamespace !== "" && self.startTicks > 0 &&
    mark.host === self.host && mark.bootId === self.bootId &&
    mark.pidNamespace === self.pidNamespace && mark.startTicks > 0;
}
