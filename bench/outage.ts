// What does it cost when every worker refuses, and how soon is it over?
import type { EngineOverride } from "../tests/support/engine_options.ts";
import { startProcessMesh } from "../tests/support/process_mesh.ts";
import { checkedChat, openLoop } from "./load/open_loop.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const perS = 50;
/** Source: issue 6. */
const attemptsMax = 1.2;
const recoveryMsMax = 2_000;

/** All engines refuse for a while, and then do not. */
export async function benchOutage(options: BenchOptions, report: Report): Promise<void> {
  const outMs = (options.seconds ?? (options.isSmall ? 4 : 30)) * 1_000;
  const engine = { kind: "vllm", models: ["m"] } as const;
  await using mesh = await startProcessMesh([engine, engine, engine]);
  const refusal: EngineOverride = { status: 503 };
  for (const worker of mesh.workers) {
    for (let count = 0; count < 2 * perS * outMs / 1_000; count++) worker.engine.addFaults(refusal);
  }
  const posts = () =>
    mesh.workers.reduce(
      (sum, { engine }) =>
        sum + engine.log.requests.filter(({ path }) => path.startsWith("/v1/chat")).length,
      0,
    );
  const startMs = performance.now();
  let attempts = NaN;
  const timer = setTimeout(() => {
    attempts = posts();
    for (const worker of mesh.workers) worker.engine.clearFaults();
  }, outMs);
  const count = (outMs / 1_000 + 4) * perS;
  const outcomes = await openLoop(
    { count, perS },
    (index) =>
      checkedChat(
        mesh.head.http,
        index,
        { words: 2, isStream: false, deadlineMs: 20_000 },
        startMs,
      ),
  );
  clearTimeout(timer);
  const asked = outcomes.filter(({ atMs }) => atMs < outMs).length;
  const late = outcomes.filter(({ atMs, result }) => atMs >= outMs && result !== "ok");
  const recoveryMs = Math.max(0, ...late.map(({ atMs, ms }) => atMs + ms - outMs));
  report.row({ requests: asked, attempts, per_request: attempts / asked, recovery_ms: recoveryMs });
  report.judge("attempts per request", attempts / asked, "<=", attemptsMax);
  report.judge("recovery ms", recoveryMs, "<=", recoveryMsMax);
}
