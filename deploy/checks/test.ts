// Do all tests pass?
import { runSteps } from "./step.ts";
import { allTests } from "./test_steps.ts";

Deno.exit(await runSteps(await allTests(new URL("../../", import.meta.url))));
