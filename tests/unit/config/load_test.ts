import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { describeValues } from "../../../lib/config/describe.ts";
import { loadConfig } from "../../../lib/config/load.ts";
import { schema } from "../../../lib/config/schema.ts";
import { defaultFile, loadText, problemsOf, readInput } from "./load_text.ts";

Deno.test("B81: loadConfig gives the defaults when nothing is said, and no bootstrap at all", () => {
  const { config, warnings, file } = loadText(undefined);
  equal(file, null);
  deepEqual(warnings, []);
  equal(config.role, "worker");
  equal(config.doors.httpPort, 8092);
  equal(config.doors.httpPortIsExplicit, false);
  equal(config.doors.httpHost, null);
  equal(config.mesh.tcpPort, 43905);
  deepEqual(config.mesh.listen, ["/ip4/0.0.0.0/tcp/43905", "/ip6/::/tcp/43905"]);
  deepEqual(config.mesh.bootstrap, []);
  deepEqual(config.network, { name: "opentela", secret: null });
  equal(config.routing.policy, "p2c");
  equal(config.limits.headTimeoutMs, 900_000);
  equal(config.registry.leaseMs, 10_800_000);
  deepEqual(config.services, []);
});

Deno.test("loadConfig lets flags win over variables, variables over the file, the file over defaults", () => {
  const text = "port: 1001\ntcpport: 1001\nrole: head\n";
  const env = { OF_PORT: "1002", OF_TCPPORT: "1002" };
  const { config, origins } = loadText(text, { env, flags: { port: "1003" } });
  equal(config.doors.httpPort, 1003);
  equal(config.mesh.tcpPort, 1002);
  equal(config.role, "head");
  const of = (key: string) => [origins.get(key)?.source, origins.get(key)?.where];
  deepEqual(of("port"), ["flag", "--port"]);
  deepEqual(of("tcpport"), ["env", "OF_TCPPORT"]);
  deepEqual(of("role"), ["file", `${defaultFile}:3:1`]);
  deepEqual(of("mode"), ["default", "reference"]);
});

Deno.test("loadConfig overrides one key of a level and keeps its siblings", () => {
  const text = "service:\n  name: llm\n  port: 8000\n  capacity: 4\n";
  const { config } = loadText(text, { env: { OF_SERVICE_PORT: "8001" } });
  equal(config.services[0].url, "http://127.0.0.1:8001");
  equal(config.services[0].capacity, 4);
});

Deno.test("loadConfig has the origin of every key of the schema", () => {
  const { origins } = loadText("port: 1\n");
  deepEqual([...origins.keys()], schema.map(({ name }) => name));
});

Deno.test("loadConfig freezes the configuration through and through", () => {
  const { config } = loadText("services:\n- {name: a, port: 1, upstream_headers: {x: y}}\n");
  const visit = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    ok(Object.isFrozen(value));
    Object.values(value).forEach(visit);
  };
  visit(config);
});

Deno.test("loadConfig is a plain value that another thread can be given", () => {
  const { config } = loadText("service.name: llm\nservice.port: 1\nlabels: {zone: a}\n");
  equal(JSON.stringify(structuredClone(config)), JSON.stringify(config));
});

Deno.test("loadConfig reads levels, dots and any case alike, as the original does", () => {
  for (const text of ["service:\n  name: llm\n  port: 1", "service.name: llm\nSERVICE.Port: 1"]) {
    equal(loadText(text).config.services[0].name, "llm");
  }
});

Deno.test("loadConfig takes texts for numbers and numbers for texts, as the original's files have them", () => {
  const { config } = loadText(
    `port: "9000"\ntcpport: '0'\nservice: {name: 7, port: "8000"}\nseed: 0`,
  );
  equal(config.doors.httpPort, 9000);
  equal(config.mesh.tcpPort, 0);
  equal(config.services[0].name, "7");
});

Deno.test("loadConfig takes empty values as not set", () => {
  const text = `port: ""\nservice:\n  name: ""\n  port: ""\npublic-addr: ""\nwsport: ""\nrole:\n`;
  const { config, warnings, origins } = loadText(text);
  deepEqual(warnings, []);
  deepEqual(config.services, []);
  equal(config.mesh.publicAddr, null);
  equal(config.doors.httpPort, 8092);
  equal(origins.get("role")?.source, "default");
});

Deno.test("loadConfig reads network as a name or as a level", () => {
  equal(loadText("network: lab").config.network.name, "lab");
  const level = loadText("network:\n  name: lab\n  secret: 0123456789").config.network;
  deepEqual({ ...level }, { name: "lab", secret: "0123456789" });
  equal(loadText(undefined, { env: { OF_NETWORK: "lab" } }).config.network.name, "lab");
  equal(loadText(undefined, { flags: { network: "lab" } }).config.network.name, "lab");
});

Deno.test("loadConfig joins the five bootstrap keys in their order, each entry once", () => {
  const text = `bootstrap:
  sources: [/a, "https://b/v1/dnt/bootstraps"]
  source: dnsaddr://c
  static: [/a]
  addrs: [/d]
  addr: "/e; /f,/d"
`;
  deepEqual(loadText(text).config.mesh.bootstrap, [
    "/a",
    "https://b/v1/dnt/bootstraps",
    "dnsaddr://c",
    "/d",
    "/e",
    "/f",
  ]);
});

Deno.test("loadConfig has no bootstrap in standalone mode and this machine's in local mode", () => {
  const addrs = "bootstrap: [/a]\n";
  deepEqual(loadText(`${addrs}mode: standalone`).config.mesh.bootstrap, []);
  const local = loadText(`${addrs}mode: local`).config.mesh.bootstrap;
  deepEqual(local, ["/a", "/ip4/127.0.0.1/tcp/43905"]);
});

Deno.test("loadConfig starts relative paths where they were written", () => {
  const text = "client.keys: keys.txt\nbootstrap: [file:seeds]\nstate_dir: ~/state\n";
  const { config } = loadText(text, { flags: { "bootstrap.write": "out", bootstrap: undefined } });
  equal(config.doors.clientKeysFile, "/home/ada/.config/opentela/keys.txt");
  equal(config.state.root, "/home/ada/state");
  equal(config.mesh.bootstrapFileWrite, "/srv/run/out");
  deepEqual(config.mesh.bootstrap, ["file:/home/ada/.config/opentela/seeds"]);
  const flag = loadText(undefined, { flags: { bootstrap: ["file:seeds", "file:///x"] } });
  deepEqual(flag.config.mesh.bootstrap, ["file:/srv/run/seeds", "file:/x"]);
});

Deno.test("loadConfig takes repeated flags, lists within them, and a bare or valued bool", () => {
  const { config } = loadText(undefined, {
    flags: {
      label: ["zone=a", "rack=b"],
      bootstrap: ["/a,/b", "/c"],
      "log-json": true,
      cleanslate: "false",
    },
  });
  deepEqual({ ...config.labels }, { zone: "a", rack: "b" });
  deepEqual(config.mesh.bootstrap, ["/a", "/b", "/c"]);
  equal(config.log.json, true);
  equal(config.registry.cleanslate, false);
});

Deno.test("loadConfig knows the original's log levels by number", () => {
  for (const [text, level] of [["-1", "debug"], ["0", "info"], ["1", "warn"], ["2", "error"]]) {
    equal(loadText(`loglevel: ${text}`).config.log.level, level);
  }
  equal(loadText("log_level: warn").config.log.level, "warn");
});

Deno.test("loadConfig knows whether a port was set, also to the default's value", () => {
  equal(loadText("port: 8092").config.doors.httpPortIsExplicit, true);
  equal(loadText(undefined, { flags: { tcpport: "0" } }).config.mesh.tcpPortIsExplicit, true);
});

Deno.test("loadConfig keeps more connections on heads and relays, unless told otherwise", () => {
  equal(loadText("role: worker").config.mesh.connectionsMax, 1_000);
  equal(loadText("role: head").config.mesh.connectionsMax, 20_000);
  equal(loadText("role: relay\nmesh.connections_max: 7").config.mesh.connectionsMax, 7);
});

Deno.test("loadConfig reads a secret's file and never shows a secret", () => {
  const text = "network:\n  secret_file: ~/secret\n";
  const loaded = loadText(text, { files: { "/home/ada/secret": "hush-hush\nmore\n" } });
  equal(loaded.config.network.secret, "hush-hush");
  const direct = loadText(undefined, { env: { OF_NETWORK_SECRET: "hush-hush" } });
  const shown = describeValues(direct.origins);
  ok(!JSON.stringify(shown).includes("hush"));
  equal(shown.find(({ key }) => key === "network.secret")?.value, "(set)");
});

Deno.test("loadConfig warns of a secret that can be guessed, without showing it", () => {
  const { warnings } = loadText("network.secret: hush");
  deepEqual(warnings.length, 1);
  match(warnings[0], /cfg\.yaml:1:1: "network.secret" is easy to guess/);
  ok(!warnings[0].includes("hush"));
  deepEqual(loadText("network.secret: 0123456789abcdef").warnings, []);
});

Deno.test("loadConfig refuses two variables that set one key", () => {
  deepEqual(problemsOf(undefined, { env: { OF_NETWORK: "a", OF_NETWORK_NAME: "b" } }), [
    "OF_NETWORK_NAME: sets the same as OF_NETWORK: unset one",
  ]);
});

const places: [string, Parameters<typeof loadText>[1], string | null][] = [
  [
    "--config",
    { flags: { config: "a.yaml" }, files: { "/srv/run/a.yaml": "" } },
    "/srv/run/a.yaml",
  ],
  ["--config-dir", { flags: { "config-dir": "/d" }, files: { "/d/cfg.yaml": "" } }, "/d/cfg.yaml"],
  ["OF_CONFIG_DIR", { env: { OF_CONFIG_DIR: "/d" }, files: { "/d/cfg.yaml": "" } }, "/d/cfg.yaml"],
  [
    "the older place",
    { files: { "/home/ada/.config/ocf/cfg.yaml": "" } },
    "/home/ada/.config/ocf/cfg.yaml",
  ],
  ["nothing in --config-dir", { flags: { "config-dir": "/d" } }, null],
  ["nothing without a home", { home: null }, null],
];
for (const [name, around, file] of places) {
  Deno.test(`loadConfig finds its file by ${name}`, () => {
    equal(loadText(undefined, around).file, file);
  });
}

Deno.test("loadConfig prefers the newer place, and a file that was asked for to both", () => {
  const older = { "/home/ada/.config/ocf/cfg.yaml": "port: 1", "/x.yaml": "port: 2" };
  equal(loadText("port: 3", { files: older }).config.doors.httpPort, 3);
  equal(
    loadText("port: 3", { files: older, flags: { config: "/x.yaml" } }).config.doors.httpPort,
    2,
  );
});

Deno.test("loadConfig refuses a missing file that was asked for and one that cannot be read", () => {
  deepEqual(problemsOf(undefined, { flags: { config: "/x.yaml" } }), [
    "/x.yaml: must exist, as it was asked for: there is no such file",
  ]);
  const readFile = () => {
    throw new Error("Permission denied");
  };
  const sources = { flags: {}, env: {}, home: "/home/ada", cwd: "/", readFile };
  throws(() => loadConfig(sources), /cfg\.yaml: must be a readable UTF-8 file: Permission denied/);
  match(problemsOf(Uint8Array.from([0xff, 0xfe]))[0], /must be a readable UTF-8 file/);
});

Deno.test("C084: environment overrides one key, keeps siblings, and has one rule for each kind of value", () => {
  const lines = new TextDecoder().decode(readInput("C084-env-override.env")).split("\n");
  const given = lines.filter((line) => line.startsWith("APP_")).map((line) => line.split(/=(.*)/));
  // The variables of the case whose keys exist here; its others must be warned of.
  const env = Object.fromEntries(
    given.map(([name, value]) => [name.replace("APP_", "OF_"), value]),
  );
  const file = "service: {name: llm, port: 8000, capacity: 2}";
  const { config, warnings } = loadText(file, { env });
  equal(config.services[0].url, "http://127.0.0.1:8001");
  equal(config.services[0].name, "llm", "an empty variable counts as not set");
  equal(config.services[0].capacity, 2, "siblings are kept");
  deepEqual(config.mesh.bootstrap, ["/ip4/192.0.2.1/tcp/1", "/ip4/192.0.2.2/tcp/1"]);
  deepEqual({ ...config.labels }, { zone: "a,b" });
  equal(
    warnings.find((line) => line.includes("OF_SERVCE_PORT")),
    "OF_SERVCE_PORT is no variable of this version: did you mean OF_SERVICE_PORT?",
  );
  equal(
    warnings.find((line) => line.includes("OF_CLEAN_SLATE")),
    "OF_CLEAN_SLATE is no variable of this version: did you mean OF_CLEANSLATE?",
  );
  for (const [text, cleanslate] of [["false", false], ["0", false], ["true", true], ["1", true]]) {
    const { config } = loadText(undefined, { env: { OF_CLEANSLATE: String(text) } });
    equal(config.registry.cleanslate, cleanslate);
  }
  for (const text of ["False", "off", "no", " "]) {
    match(
      problemsOf(undefined, { env: { OF_CLEANSLATE: text } })[0],
      /^OF_CLEANSLATE: must be true, false, 1 or 0/,
    );
  }
});

Deno.test("C074: a port from the default may be replaced, a port that was set may not", () => {
  equal(loadText(undefined).config.doors.httpPortIsExplicit, false);
  equal(loadText(undefined).config.mesh.tcpPortIsExplicit, false);
  equal(loadText(undefined, { env: { OF_PORT: "8092" } }).config.doors.httpPortIsExplicit, true);
  equal(loadText(undefined, { flags: { tcpport: "43905" } }).config.mesh.tcpPortIsExplicit, true);
});

Deno.test("C071: how long a stop waits for requests can be set, and is shorter than Slurm's patience", () => {
  equal(loadText(undefined).config.limits.drainMs, 20_000);
  equal(loadText("drain.deadline: 90s").config.limits.drainMs, 90_000);
  const flags = { "drain.deadline": "0s" };
  equal(loadText("drain:\n  deadline: 90s", { flags }).config.limits.drainMs, 0);
});
