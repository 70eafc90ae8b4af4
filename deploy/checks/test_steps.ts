// Which tests are there, and what may each of them touch?
import { coreFolders } from "../../tests/tidy/purity.ts";
import type { Step } from "./step.ts";

/** What tests of the edges need: sockets, temporary folders, processes, the machine's names. */
const permissions = [
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-run",
  "--allow-sys",
];

/** Unit tests that hold no permission, beside the core's: a part of the project that only computes. */
const pureToo = ["bench", "deploy", "tidy"];

/** Integration tests whose subject differs between Deno versions: sockets, streams, crypto, files, threads. */
const compatTests: readonly string[] = [
  "exchange_http",
  "exchange_lane",
  "exchange_socket",
  "gateway_client_gone",
  "gateway_wire",
  "identity_libp2p",
  "mesh_deno_tcp",
  "mesh_stream",
  "registry_loader",
  "service_engine",
  "serving_openai",
].map((name) => `tests/integration/${name}_test.ts`);

/** What that Deno counts as leaks of a test and are none. */
const keepTimers = "--preload=deploy/checks/packages_keep_timers.ts";

/** Options of one run: which Deno, and flags for `deno test`. */
type Runtime = { readonly deno: readonly string[]; readonly flags: readonly string[] };

/** All tests; those of the core under no permission at all, which proves that it is pure. */
export async function allTests(root: URL): Promise<Step[]> {
  const runtime = { deno: [Deno.execPath()], flags: [] };
  const { pure, others } = await unitFolders(root);
  const outer = [
    ...others,
    "tests/contract",
    "tests/integration",
    "tests/e2e",
    "tests/tidy_test.ts",
  ];
  return [
    testStep("tests of the core, without permissions", runtime, ["--parallel"], pure),
    testStep("tests of the edges", runtime, permissions, await withTests(root, outer)),
  ];
}

/** Unit tests and some integration tests on another Deno. */
export async function compatibilityTests(root: URL, version: string): Promise<Step[]> {
  // Types were checked by the Deno we develop with; here it is about what happens at run time.
  const runtime = { deno: ["npx", "-y", `deno@${version}`], flags: ["--no-check"] };
  const { pure, others } = await unitFolders(root);
  return [
    testStep(`core on Deno ${version}`, runtime, ["--parallel"], pure),
    testStep(`edges on Deno ${version}`, runtime, [...permissions, keepTimers], [
      ...others,
      ...compatTests,
    ]),
  ];
}

function testStep(
  name: string,
  { deno, flags }: Runtime,
  allowed: readonly string[],
  paths: readonly string[],
): Step {
  return { name, command: [...deno, "test", "--no-prompt", ...flags, ...allowed, ...paths] };
}

async function unitFolders(root: URL): Promise<{ pure: string[]; others: string[] }> {
  const isPure = (name: string) => coreFolders.includes(`lib/${name}/`) || pureToo.includes(name);
  const names: string[] = [];
  for await (const { name } of Deno.readDir(new URL("tests/unit/", root))) names.push(name);
  const paths = (some: string[]) => some.sort().map((name) => `tests/unit/${name}`);
  return {
    pure: paths(names.filter(isPure)),
    others: paths(names.filter((name) => !isPure(name))),
  };
}

/** `deno test` refuses a folder without tests. */
async function withTests(root: URL, paths: readonly string[]): Promise<string[]> {
  const has = async (path: string): Promise<boolean> => {
    if (path.endsWith("_test.ts")) return true;
    for await (const { name, isDirectory } of Deno.readDir(new URL(`${path}/`, root))) {
      if (name.endsWith("_test.ts")) return true;
      if (isDirectory && await has(`${path}/${name}`)) return true;
    }
    return false;
  };
  const found: string[] = [];
  for (const path of paths) if (await has(path)) found.push(path);
  return found;
}
