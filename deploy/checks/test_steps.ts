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
  "engine_pool",
  "engine_socket",
  "engine_tls",
  "exchange_http",
  "exchange_lane",
  "exchange_socket",
  "gateway_client_gone",
  "gateway_socket",
  "gateway_wire",
  "identity_libp2p",
  "mesh_deno_tcp",
  "mesh_stream",
  "registry_loader",
  "server_http",
  "server_http_end",
  "server_http_limits",
  "server_socket",
  "service_engine",
  "serving_openai",
].map((name) => `tests/integration/${name}_test.ts`);

/** What that Deno counts as leaks of a test and are none. */
const keepTimers = "--preload=deploy/checks/packages_keep_timers.ts";

/** Options of one run: which Deno, and flags for `deno test`. */
type Runtime = { readonly deno: readonly string[]; readonly flags: readonly string[] };

/**
 * All tests; those of the core under no permission at all, which proves that it is pure. Types are checked by
 * `deno task ok`, once for everything: here each thread that a test starts would check its own again.
 */
export async function allTests(root: URL): Promise<Step[]> {
  const runtime = { deno: [Deno.execPath()], flags: ["--no-check"] };
  const { pure, others } = await unitFolders(root);
  const folders = [...others, "tests/contract", "tests/integration"];
  const files = await testFiles(root, [...folders, "tests/e2e"]);
  const isOfProcesses = (path: string) => /^tests\/(e2e\/|integration\/serving_)/.test(path);
  const isOfExecutable = (path: string) => path.startsWith("tests/e2e/executable_");
  // Those of the build make the executable anew, which the others run: Deno opens its own file by name.
  const isOfBuild = (path: string) => path.endsWith("/executable_build_test.ts");
  const ofBuild = files.filter(isOfBuild);
  const ofExecutable = files.filter((path) => isOfExecutable(path) && !isOfBuild(path));
  const ofProcesses = files.filter((path) => isOfProcesses(path) && !isOfExecutable(path));
  const inside = files.filter((path) => !isOfProcesses(path));
  const parallel = [...permissions, "--parallel"];
  return [
    testStep("tests of the core, without permissions", runtime, ["--parallel"], [
      ...pure,
      "tests/sim",
    ]),
    // One after the other: some look at the memory of the whole process.
    testStep("tests of the edges", runtime, permissions, [...inside, "tests/tidy_test.ts"]),
    testStep("tests of whole processes", runtime, parallel, ofProcesses),
    { name: "an executable", command: [Deno.execPath(), "task", "--quiet", "compile"] },
    testStep("tests of its build", runtime, permissions, ofBuild),
    testStep("tests of the executable", runtime, parallel, ofExecutable),
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

/** Paths of all test files in some folders, sorted. */
async function testFiles(root: URL, folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const look = async (path: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(`${path}/`, root))) {
      if (name.endsWith("_test.ts")) found.push(`${path}/${name}`);
      if (isDirectory) await look(`${path}/${name}`);
    }
  };
  for (const folder of folders) await look(folder);
  return found.sort();
}
