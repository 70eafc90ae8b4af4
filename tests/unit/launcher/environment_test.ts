import { deepEqual } from "node:assert/strict";
import { environmentFor } from "../../../lib/launcher/environment.ts";

Deno.test("environmentFor passes what tools need and keeps credentials and the loader's variables back", () => {
  const passed = environmentFor({
    PATH: "/usr/bin",
    SLURM_JOB_ID: "17",
    CUDA_VISIBLE_DEVICES: "0,1",
    AWS_SECRET_ACCESS_KEY: "secret",
    OF_NETWORK_SECRET: "secret",
    LD_LIBRARY_PATH: "/cuda/lib",
    HOME: undefined,
  });
  deepEqual(passed, { PATH: "/usr/bin", SLURM_JOB_ID: "17", CUDA_VISIBLE_DEVICES: "0,1" });
});
