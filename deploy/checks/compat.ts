// Does the code do the same on the Deno of the offline build?
import { runSteps } from "./step.ts";
import { compatibilityTests } from "./test_steps.ts";

/** The newest Deno whose compile runtime the npm registry alone can give. */
const offlineVersion = "2.7.11";

Deno.exit(
  await runSteps(await compatibilityTests(new URL("../../", import.meta.url), offlineVersion)),
);
