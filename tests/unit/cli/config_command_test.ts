import { deepEqual, equal, match } from "node:assert/strict";
import { runCommand } from "../../support/command_io.ts";

async function withFile(
  text: string,
  use: (home: string, file: string) => Promise<void>,
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "otela-config-" });
  const file = `${home}/.config/opentela/cfg.yaml`;
  try {
    await Deno.mkdir(`${home}/.config/opentela`, { recursive: true });
    await Deno.writeTextFile(file, text);
    await use(home, file);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("C084: config show says of each value whether flag, variable, file or default won", async () => {
  await withFile("port: 1\ntcpport: 1\nrole: head\n", async (home, file) => {
    const env = { OF_PORT: "2", OF_TCPPORT: "2" };
    const { out } = await runCommand(["config", "show", "--json", "--port", "3"], { home, env });
    const rows: { key: string }[] = JSON.parse(out[0]);
    const row = (key: string) => rows.find((row) => row.key === key);
    deepEqual(row("port"), { key: "port", value: 3, source: "flag", where: "--port" });
    deepEqual(row("tcpport"), { key: "tcpport", value: 2, source: "env", where: "OF_TCPPORT" });
    deepEqual(row("role"), { key: "role", value: "head", source: "file", where: `${file}:3:1` });
    deepEqual(row("mode"), { key: "mode", value: "node", source: "default", where: null });
  });
});

Deno.test("config writes nothing and starts nothing", async () => {
  await withFile("", async (home) => {
    for (const name of ["show", "check", "path"]) await runCommand(["config", name], { home });
    const names = [...Deno.readDirSync(`${home}/.config/opentela`)].map(({ name }) => name);
    deepEqual(names, ["cfg.yaml"]);
    deepEqual([...Deno.readDirSync(home)].map(({ name }) => name), [".config"]);
  });
});

Deno.test("config check ends with 2 and each place when a node could not start", async () => {
  await withFile("prot: 1\nrole: boss\n", async (home, file) => {
    const { code, out, err } = await runCommand(["config", "check"], { home });
    deepEqual([code, out], [2, []]);
    equal(err.length, 3);
    match(err[1], new RegExp(`^  ${file}:1:1: "prot"`));
    const json = await runCommand(["config", "check", "--json"], { home });
    equal(json.code, 2);
    deepEqual(JSON.parse(json.out[0]).problems.map(({ where }: { where: string }) => where), [
      `${file}:1:1`,
      `${file}:2:7`,
    ]);
  });
});

Deno.test("config check and start look at the file of client keys, and never repeat what is in it", async () => {
  await withFile("client.keys: keys\n", async (home, file) => {
    const keys = `${home}/.config/opentela/keys`;
    const says = async (message: RegExp) => {
      for (const args of [["config", "check"], ["start"]]) {
        const { code, err } = await runCommand(args, { home });
        deepEqual([code, err.length], [2, 1]);
        match(err[0], message);
      }
    };
    await says(new RegExp(`${file}:1:1: "client.keys" must name a file that exists: "${keys}"`));
    await Deno.writeTextFile(keys, "sk-hush-hush\n");
    await says(/must name a file of hashes: .* line 1 must be 64 hex digits .*: it is not$/);
    await Deno.writeTextFile(keys, `${"0".repeat(64)} ada\n`);
    equal((await runCommand(["config", "check"], { home })).code, 0);
  });
});

Deno.test("config check knows that a node must know where to keep its files", async () => {
  const { code, err } = await runCommand(["config", "check"], { env: { HOME: "" } });
  deepEqual([code, err.length], [2, 1]);
  match(err[0], /HOME must be set or --state-dir given/);
});

Deno.test("config path finds the file even when it is broken, so that it can be edited", async () => {
  await withFile("\t", async (home, file) => {
    deepEqual(await runCommand(["config", "path"], { home }), { code: 0, out: [file], err: [] });
    const other = await runCommand(["config", "path", "--config-dir", "/d"], { home });
    deepEqual(other.out, ["/d/cfg.yaml"]);
    match(other.err[0], /no such file yet/);
    const { out: [json] } = await runCommand(["config", "path", "--json"], { home });
    deepEqual(JSON.parse(json), { file, searched: [file, `${home}/.config/ocf/cfg.yaml`] });
  });
});
