// Which GPUs does nvidia-smi list, and how well are they?

/** One line of `nvidia-smi --query-gpu=…`. A cell that holds no value is `null`, and only that cell. */
export type GpuRow = {
  readonly index: number | null;
  /** `null` when the tool puts an error in its place. */
  readonly name: string | null;
  readonly uuid: string | null;
  readonly memoryTotalMiB: number | null;
  readonly memoryUsedMiB: number | null;
  readonly utilizationPercent: number | null;
  readonly temperatureC: number | null;
  /** Shares the machine's memory, so that it has no size of its own (GB10, Jetson). */
  readonly isUnified: boolean;
  /** False when any cell reports a fault: it must not be offered for new work. */
  readonly isHealthy: boolean;
};

/** What the tool did, as plain values. */
export type NvidiaSmiRun = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the kernel has the driver (`/proc/driver/nvidia`); `undefined` when that may not be looked at. */
  readonly hasDriver?: boolean;
};

/** What is known of the GPUs of this machine. */
export type GpuReport =
  | { readonly status: "ok"; readonly gpus: readonly GpuRow[] }
  /** Nobody installed the tool: no NVIDIA GPU, no alarm. */
  | { readonly status: "no_tool" }
  /** The tool is part of the image but this machine has no driver: no GPU, no alarm. */
  | { readonly status: "no_driver" }
  /** There is a driver and it cannot be asked: a person must look. */
  | { readonly status: "driver_error"; readonly reason: string };

/** The columns that are asked for, in the tool's own words. */
export const gpuColumns = [
  "index",
  "name",
  "uuid",
  "memory.total",
  "memory.used",
  "utilization.gpu",
  "temperature.gpu",
] as const;

/**
 * With the header, because its names tell a table from an error message and the columns from each other
 * (versions differ in what they support).
 */
export const gpuQueryArgs: readonly string[] = [
  `--query-gpu=${gpuColumns.join(",")}`,
  "--format=csv,nounits",
];

/** More than any machine has; longer tables are cut. Guess. */
const gpusMax = 64;
/** `NVIDIA driver is not loaded`, by the tool's manual page. */
const driverNotLoadedExit = 9;

/** Judges a run of the tool. Text that is no table never becomes a GPU. */
export function readGpuReport(run: NvidiaSmiRun): GpuReport {
  const lines = linesOf(run.stdout);
  // One lost GPU makes the tool fail after it has listed the others.
  if (isTable(lines)) return { status: "ok", gpus: parseGpuTable(run.stdout) };
  const first = lines[0] ?? linesOf(run.stderr)[0] ?? "";
  if (first.startsWith("No devices were found")) return { status: "ok", gpus: [] };
  const hasDriver = run.hasDriver ?? run.exitCode !== driverNotLoadedExit;
  if (!hasDriver) return { status: "no_driver" };
  const reason = first.slice(0, 200) || `nvidia-smi ended with ${run.exitCode} and said nothing`;
  return { status: "driver_error", reason };
}

/**
 * Reads a table with its header, with units or without.
 * @param text Untrusted. Without a header it holds no GPU.
 */
export function parseGpuTable(text: string): readonly GpuRow[] {
  const lines = linesOf(text);
  if (!isTable(lines)) return [];
  const columns = lines[0].split(",").map((cell) => cell.trim().replace(/ \[[^\]]*\]$/, ""));
  return lines.slice(1, gpusMax + 1).flatMap((line) => rowOf(columns, line) ?? []);
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function isTable(lines: readonly string[]): boolean {
  return /(^|, ?)name(,|$)/.test(lines[0] ?? "");
}

/** @returns `undefined` for a line that is no row, such as an error between the rows. */
function rowOf(columns: readonly string[], line: string): GpuRow | undefined {
  const cells = cellsOf(columns, line);
  if (!cells) return undefined;
  const cell = (column: string) => cells.get(column) ?? "";
  const name = isValue(cell("name")) ? cell("name") : null;
  const isHealthy = name !== null && ![...cells.values()].some(isFault);
  return {
    index: numberIn(cell("index")),
    name,
    uuid: /^(GPU|MIG)-[\w/-]+$/.test(cell("uuid")) ? cell("uuid") : null,
    memoryTotalMiB: numberIn(cell("memory.total")),
    memoryUsedMiB: numberIn(cell("memory.used")),
    utilizationPercent: numberIn(cell("utilization.gpu")),
    temperatureC: numberIn(cell("temperature.gpu")),
    isUnified: isHealthy && /^\[(N\/A|Not Supported)\]$/i.test(cell("memory.total")),
    isHealthy,
  };
}

/** The tool does not quote, so commas too many belong to the name. */
function cellsOf(
  columns: readonly string[],
  line: string,
): ReadonlyMap<string, string> | undefined {
  const parts = line.split(",").map((part) => part.trim());
  const surplus = parts.length - columns.length;
  if (surplus < 0) return undefined;
  const nameAt = columns.indexOf("name");
  const name = parts.slice(nameAt, nameAt + surplus + 1).join(", ");
  parts.splice(nameAt, surplus + 1, name);
  const cells = new Map(columns.map((column, index) => [column, parts[index]]));
  return /^\d+$/.test(cells.get("index") ?? "0") ? cells : undefined;
}

function isValue(cell: string): boolean {
  return cell !== "" && !isFault(cell) && !/^\[.*\]$/.test(cell) && !/^n\/a$/i.test(cell);
}

/** Other words in brackets mean that there is no such value, or that we may not see it. */
function isFault(cell: string): boolean {
  return /^ERR!$|^\[?(Unknown Error|GPU requires reset|GPU is lost|ERR!)\]?$/i.test(cell);
}

function numberIn(cell: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(?: ?(?:MiB|%|C|W))?$/.exec(cell);
  const number = match ? Math.round(Number(match[1])) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}
