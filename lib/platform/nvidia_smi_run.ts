// How is nvidia-smi asked?
import { messageOf } from "../base/errors.ts";
import { gpuQueryArgs, type GpuReport, readGpuReport } from "./nvidia_smi.ts";
import { divideGpus, gpuListArgs, parseGpuList } from "./nvidia_smi_list.ts";
import { runTool, type ToolLimits } from "./tool_run.ts";

/**
 * Asks once, for the table and for how GPUs are divided; takes 50 ms to seconds on machines with many GPUs, so not on every change.
 * @param path Absolute path of the tool; `undefined` when none was found.
 * @returns Never rejects: a tool that cannot run or hangs is a driver error.
 */
export async function queryGpus(path: string | undefined, limits?: ToolLimits): Promise<GpuReport> {
  if (path === undefined) return { status: "no_tool" };
  try {
    const result = await runTool(path, gpuQueryArgs, limits);
    const report = readGpuReport({ ...result, hasDriver: hasDriver() });
    if (report.status !== "ok" || report.gpus.length === 0) return report;
    const list = await runTool(path, gpuListArgs, limits);
    return { ...report, gpus: divideGpus(report.gpus, parseGpuList(list.stdout)) };
  } catch (error) {
    return { status: "driver_error", reason: messageOf(error) };
  }
}

/** The node's thread may not look outside its own directories; then the tool's exit code must tell. */
function hasDriver(): boolean | undefined {
  try {
    return Deno.statSync("/proc/driver/nvidia").isDirectory;
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? false : undefined;
  }
}
