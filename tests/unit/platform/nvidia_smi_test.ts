import { deepEqual, equal, ok } from "node:assert/strict";
import { hardwareClaimOf } from "../../../lib/platform/hardware.ts";
import { gpuQueryArgs, parseGpuTable, readGpuReport } from "../../../lib/platform/nvidia_smi.ts";
import { divideGpus, parseGpuList } from "../../../lib/platform/nvidia_smi_list.ts";

const inputs = new URL("../../cases/inputs/", import.meta.url);
const input = (name: string) => Deno.readTextFileSync(new URL(name, inputs));
const machine = { cpuCount: 8, memoryMiB: 1_000 };

/** Inputs of failed runs begin with `# exit N; stdout:`. */
function failedRun(name: string): { exitCode: number; stdout: string; stderr: string } {
  const [first, ...rest] = input(name).split("\n");
  return { exitCode: Number(/exit (\d+)/.exec(first)![1]), stdout: rest.join("\n"), stderr: "" };
}

Deno.test("C056: parseGpuTable keeps a GPU of unified memory, its size unknown", () => {
  const report = readGpuReport({
    exitCode: 0,
    stdout: input("C056-gpu-na-memory.csv"),
    stderr: "",
  });
  ok(report.status === "ok");
  deepEqual(report.gpus, [{
    index: 0,
    name: "NVIDIA GB10",
    uuid: "GPU-00000000-1111-2222-3333-444444444444",
    memoryTotalMiB: null,
    memoryUsedMiB: null,
    utilizationPercent: 0,
    temperatureC: 36,
    isUnified: true,
    isHealthy: true,
  }]);
  deepEqual(hardwareClaimOf(machine, report), {
    cpuCount: 8,
    memoryMiB: 1_000,
    gpus: [{ name: "NVIDIA GB10", memoryTotalMiB: null, memoryUsedMiB: null }],
  });
});

Deno.test("C057: parseGpuTable gives null for a cell we may not see, and keeps row and other cells", () => {
  const gpus = parseGpuTable(input("C057-mig-permission.csv"));
  deepEqual(gpus.map((gpu) => [gpu.name, gpu.memoryTotalMiB, gpu.temperatureC]), [
    ["NVIDIA A100-SXM4-80GB", null, 41],
    ["NVIDIA A100-SXM4-80GB", 81_920, 43],
    ["NVIDIA A100-SXM4-80GB", null, null],
  ]);
  deepEqual(gpus.map((gpu) => gpu.utilizationPercent), [null, 12, null]);
  // What we may not see is no sign of unified memory.
  deepEqual(gpus.map((gpu) => gpu.isUnified), [false, false, false]);
  ok(!JSON.stringify(gpus).includes("NaN"));
});

Deno.test("C059: parseGpuList counts slices of a divided GPU, and never as GPUs", () => {
  const gpus = parseGpuList(input("C059-mig-list.txt"));
  deepEqual(gpus.map((gpu) => [gpu.index, gpu.name, gpu.slices.length]), [
    [0, "NVIDIA H100 80GB HBM3", 3],
    [1, "NVIDIA H100 80GB HBM3", 0],
  ]);
  deepEqual(gpus[0].slices[2], {
    profile: "1g.10gb+me",
    device: 2,
    uuid: "MIG-aaaaaaaa-0000-5000-8000-000000000003",
  });
  ok(gpus.every((gpu) => gpu.uuid.startsWith("GPU-")));
  const table = gpus.map(({ index, name, uuid }) => `${index}, ${name}, ${uuid}, 81559 MiB`);
  const rows = parseGpuTable(["index, name, uuid, memory.total [MiB]", ...table].join("\n"));
  const report = { status: "ok", gpus: divideGpus(rows, gpus) } as const;
  deepEqual(
    hardwareClaimOf(machine, report).gpus.map(({ name, memoryTotalMiB }) => [name, memoryTotalMiB]),
    [
      ...gpus[0].slices.map(({ profile }) => [`NVIDIA H100 80GB HBM3 MIG ${profile}`, null]),
      ["NVIDIA H100 80GB HBM3", 81_559],
    ],
  );
  deepEqual(divideGpus(rows, []), rows);
});

Deno.test("C061: readGpuReport calls a driver that does not answer an error, and never a GPU", () => {
  for (const hasDriver of [true, undefined]) {
    const report = readGpuReport({ ...failedRun("C061-nvml-mismatch.txt"), hasDriver });
    deepEqual(report, {
      status: "driver_error",
      reason: "Failed to initialize NVML: Driver/library version mismatch",
    });
    deepEqual(hardwareClaimOf(machine, report).gpus, []);
  }
});

Deno.test("C062: readGpuReport tells a machine without driver from a driver that fails", () => {
  const run = failedRun("C062-smi-no-driver.txt");
  deepEqual(readGpuReport({ ...run, hasDriver: false }), { status: "no_driver" });
  deepEqual(readGpuReport(run), { status: "no_driver" });
  equal(readGpuReport({ ...run, hasDriver: true }).status, "driver_error");
});

Deno.test("C064: parseGpuTable flags a half-broken GPU, which is not claimed, and no other", () => {
  const gpus = parseGpuTable(input("C064-err-field.csv"));
  deepEqual(gpus.map((gpu) => gpu.isHealthy), [true, false, false]);
  deepEqual(gpus.map((gpu) => gpu.memoryTotalMiB), [20_475, 20_475, null]);
  deepEqual(gpus.map((gpu) => gpu.utilizationPercent), [0, 93, null]);
  const claim = hardwareClaimOf(machine, { status: "ok", gpus });
  deepEqual(claim.gpus.map((gpu) => gpu.memoryTotalMiB), [20_475]);
});

Deno.test("parseGpuTable reads the table that is asked for, without units", () => {
  equal(gpuQueryArgs[1], "--format=csv,nounits");
  const [gpu] = parseGpuTable(
    "index, name, uuid, memory.total [MiB], memory.used [MiB], utilization.gpu [%], temperature.gpu\n" +
      "3, NVIDIA H100, 80GB, GPU-1, 81559, 4, 0, 31\n",
  );
  deepEqual([gpu.index, gpu.name, gpu.memoryTotalMiB, gpu.memoryUsedMiB], [
    3,
    "NVIDIA H100, 80GB",
    81_559,
    4,
  ]);
});

Deno.test("parseGpuTable skips an error between rows", () => {
  const gpus = parseGpuTable(
    "index, name\n0, A\nUnable to determine the device handle, reboot the system\n1, B\n",
  );
  deepEqual(gpus.map((gpu) => gpu.name), ["A", "B"]);
});

Deno.test("readGpuReport knows a machine whose driver has no device", () => {
  const run = { exitCode: 6, stdout: "No devices were found\n", stderr: "", hasDriver: true };
  deepEqual(readGpuReport(run), { status: "ok", gpus: [] });
});

Deno.test("readGpuReport says something when the tool says nothing", () => {
  const run = { exitCode: 255, stdout: "", stderr: "", hasDriver: true };
  deepEqual(readGpuReport(run), {
    status: "driver_error",
    reason: "nvidia-smi ended with 255 and said nothing",
  });
});
