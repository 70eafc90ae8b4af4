// Does the command line of somebody who switches still start?
import { deepEqual, equal, match } from "node:assert/strict";
import { runCommand } from "../../support/command_io.ts";

/** Every flag of the original's `start`, as a script that sets all of them would pass it. */
const original = `--wallet.account= --account.wallet= --bootstrap.addr=/ip4/192.0.2.7/tcp/43905
  --bootstrap.source=https://example.org/v1/dnt/bootstraps --bootstrap.static= --seed=0 --mode=full
  --tcpport=43905 --udpport=59820 --subprocess= --public-addr= --service.name= --service.port=
  --service.health_path=/health --service.health_interval=30s --service.health_failures=3
  --solana.rpc=https://api.mainnet-beta.solana.com
  --solana.mint=EsmcTrdLkFqV3mv4CjLF3AmCx132ixfFSYYRWD78cDzR --solana.skip_verification=false
  --lb-policy=random --cleanslate=true --role=worker --admin.enabled=false --admin.port=8093
  --admin.bind=127.0.0.1 --analytics.enabled=false --analytics.posthog_api_key=
  --analytics.posthog_host=https://us.i.posthog.com --component=server
  --ingest-url=http://localhost:8081`.split(/\s+/);

const check = (args: readonly string[]) => runCommand(["config", "check", ...args]);

Deno.test("the original's command line is taken, in silence where it asks for nothing", async () => {
  const { code, err } = await check(original);
  deepEqual([code, err], [0, []]);
});

Deno.test("a flag of the original without effect is one warning, and the node would start", async () => {
  const idle = [
    ["--seed", "7"],
    ["--udpport", "4001"],
    ["--wallet.account", "4uQe"],
    ["--account.wallet", "/wallet.json"],
    ["--solana.rpc", "http://localhost"],
    ["--solana.mint", "abc"],
    ["--solana.skip_verification"],
    ["--admin.enabled"],
    ["--admin.port", "1"],
    ["--admin.bind", "::1"],
    ["--analytics.enabled"],
    ["--analytics.posthog_api_key", "phc_hush"],
    ["--analytics.posthog_host", "http://localhost"],
    ["--ingest-url", "http://localhost"],
  ];
  for (const args of idle) {
    const { code, err } = await check(args);
    deepEqual([code, err.length], [0, 1], args.join(" "));
    match(err[0], new RegExp(`^otela: ${args[0]}: ".+" has no effect`));
    equal(err[0].includes("hush"), false);
  }
});

Deno.test("switches of scalability are accepted from variables with one line each", async () => {
  const env = { OF_SCALABILITY_SWIM_ENABLED: "true", OF_SCALABILITY_CRDT_TUNED: "true" };
  const { code, err } = await runCommand(["config", "check"], { env });
  deepEqual([code, err.length], [0, 2]);
});

Deno.test("a flag whose silence would harm still stops the start", async () => {
  for (const args of [["--subprocess", "vllm serve"], ["--component", "all"]]) {
    const { code, err } = await check(args);
    equal(code, 2);
    match(err[0], /is set, but this version cannot/);
  }
});
