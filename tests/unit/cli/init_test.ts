import { deepEqual, equal, match, ok } from "node:assert/strict";
import { newConfigFile } from "../../../lib/config/new_file.ts";
import { loadText } from "../config/load_text.ts";
import { runCommand } from "../../support/command_io.ts";

async function withHome(use: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "otela-init-" });
  try {
    await use(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

const modeOf = async (path: string) => ((await Deno.stat(path)).mode! & 0o777).toString(8);

Deno.test("init writes a private configuration and a key, and tells the PeerId", async () => {
  await withHome(async (home) => {
    const folder = `${home}/.config/opentela`;
    const { code, out, err } = await runCommand(["init"], { home });
    deepEqual([code, err], [0, []]);
    match(out[0], new RegExp(`^config  ${folder}/cfg.yaml +written$`));
    match(out[1], new RegExp(`^key     ${folder}/keys/id +created$`));
    match(out[2], /^peer {4}12D3KooW\w{44}$/);
    equal(await modeOf(folder), "700");
    equal(await modeOf(`${folder}/cfg.yaml`), "600");
    equal(await modeOf(`${folder}/keys/id`), "600");
    deepEqual((await runCommand(["peer-id"], { home })).out, [out[2].slice("peer    ".length)]);
  });
});

Deno.test("init may be run again: nothing is changed, and it says so", async () => {
  await withHome(async (home) => {
    const { out: [, , peer] } = await runCommand(["init"], { home });
    const file = `${home}/.config/opentela/cfg.yaml`;
    await Deno.writeTextFile(file, "role: head\n");
    const again = await runCommand(["init"], { home });
    match(again.out[0], /kept as it was$/);
    match(again.out[1], /kept as it was$/);
    equal(again.out[2], peer);
    equal(await Deno.readTextFile(file), "role: head\n");
    const json = JSON.parse((await runCommand(["init", "--json"], { home })).out[0]);
    deepEqual(json, {
      peer_id: peer.slice("peer    ".length),
      config_file: file,
      is_config_new: false,
      key_file: `${home}/.config/opentela/keys/id`,
      is_key_new: false,
    });
  });
});

Deno.test("init never hides a configuration in the older place, and says that it stays in use", async () => {
  await withHome(async (home) => {
    const older = `${home}/.config/ocf/cfg.yaml`;
    await Deno.mkdir(`${home}/.config/ocf`, { recursive: true });
    await Deno.writeTextFile(older, "port: 9000\n");
    const { code, out, err } = await runCommand(["init"], { home });
    equal(code, 0);
    match(err[0], new RegExp(`^otela: ${older} stays in use`));
    match(out[0], new RegExp(`^config  ${older} +kept as it was$`));
    deepEqual((await runCommand(["config", "path"], { home })).out, [older]);
  });
});

Deno.test("init writes where --config and --config-dir say, making folders", async () => {
  await withHome(async (home) => {
    await runCommand(["init", "--config", "mine/otela.yaml"], { home });
    equal(await Deno.readTextFile(`${home}/mine/otela.yaml`), newConfigFile);
    await runCommand(["init", "--config-dir", "other"], { home });
    equal(await Deno.readTextFile(`${home}/other/cfg.yaml`), newConfigFile);
    ok((await Deno.stat(`${home}/other/keys/id`)).isFile);
  });
});

Deno.test("init refuses a configuration with a mistake and a damaged key, and replaces neither", async () => {
  await withHome(async (home) => {
    await runCommand(["init"], { home });
    const key = `${home}/.config/opentela/keys/id`;
    await Deno.writeTextFile(key, "nonsense");
    const damaged = await runCommand(["init"], { home });
    equal(damaged.code, 1);
    match(damaged.err[0], /move it away to become a new peer$/);
    equal(await Deno.readTextFile(key), "nonsense");
    await Deno.writeTextFile(`${home}/.config/opentela/cfg.yaml`, "prot: 1\n");
    const wrong = await runCommand(["init"], { home });
    equal(wrong.code, 2);
    match(wrong.err[0], /cfg\.yaml:1:1: "prot" is no key .* did you mean "port"\?$/);
  });
});

Deno.test("init says in one line that a folder cannot be written, or that no home is known", async () => {
  await withHome(async (home) => {
    await Deno.symlink("/nowhere/at/all", `${home}/gone`);
    const { code, err } = await runCommand(["init", "--config-dir", `${home}/gone`], { home });
    deepEqual([code, err.length], [1, 1]);
    match(err[0], /^otela: Cannot write ".*\/gone\/cfg\.yaml": /);
    await Deno.writeTextFile(`${home}/.config`, "a file in the way");
    const blocked = await runCommand(["init"], { home });
    deepEqual([blocked.code, blocked.err.length], [2, 1]);
    const homeless = await runCommand(["init"], { env: { HOME: "" } });
    deepEqual([homeless.code, homeless.err.length], [2, 1]);
    match(homeless.err[0], /HOME must be set or --config-dir given$/);
  });
});

Deno.test("the file that init writes changes nothing as it is, and is right with every # removed", () => {
  deepEqual(loadText(newConfigFile).config, loadText(undefined).config);
  const all = newConfigFile.replaceAll(/^#(?! \S)/gm, "");
  const files = { "/home/ada/.config/opentela/secret": "correct horse battery staple" };
  const { config, warnings } = loadText(all, { files });
  deepEqual(warnings, []);
  equal(config.services[0].url, "http://127.0.0.1:8000");
  equal(config.mesh.bootstrap.length, 1);
  equal(config.network.secret, "correct horse battery staple");
});
