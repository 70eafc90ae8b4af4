// What does a person read who made a mistake? Each row is a file and all that is said about it.
import { deepEqual, equal, match } from "node:assert/strict";
import { type Around, loadText, problemsOf, readInput } from "./load_text.ts";

const mistakes: [string, string, string[], Around?][] = [
  ["an unknown key", "servce:\n  name: a\n", [
    `cfg.yaml:1:1: "servce" is no key of the configuration: did you mean "service"?`,
  ]],
  ["an unknown key inside a level", "service:\n  name: a\n  prot: 1\n", [
    `cfg.yaml:3:3: "service.prot" is no key of the configuration: did you mean "service.port"?`,
  ]],
  ["an unknown key inside a level in capitals", "SERVICE:\n  prot: 1\n", [
    `cfg.yaml:2:3: "SERVICE.prot" is no key of the configuration: did you mean "service.port"?`,
  ]],
  ["an unknown key like no other", "zebra: 1\n", [
    `cfg.yaml:1:1: "zebra" is no key of the configuration: remove it`,
  ]],
  ["a wrong type", "role: head\nport: abc\n", [
    `cfg.yaml:2:7: "port" must be a whole number from 0 to 65535: got "abc"`,
  ]],
  ["a list for one value", "port: [1]\n", [
    `cfg.yaml:1:7: "port" must be a single value: got "a list"`,
  ]],
  ["a level for one value", "port:\n  a: 1\n", [
    `cfg.yaml:2:3: "port" must be a single value: got "key: value pairs"`,
  ]],
  ["a value for a level", "service: llm\n", [`cfg.yaml:1:10: "service" must hold key: value`]],
  ["a truth for a text", "network: true\n", [
    `cfg.yaml:1:10: "network" must be a text in quotes: got "true"`,
  ]],
  ["an unknown choice", "role: boss\n", [
    `cfg.yaml:1:7: "role" must be one of head, worker, relay: got "boss"`,
  ]],
  ["a duration without unit", "registry.lease: 30\n", [
    `cfg.yaml:1:17: "registry.lease" must be a duration such as "10s" or "1h30m" from 60000 to 86400000 ms: got "30"`,
  ]],
  ["a word that is no truth", "cleanslate: off\n", [
    `cfg.yaml:1:13: "cleanslate" must be true, false, 1 or 0: got "off"`,
  ]],
  ["a key twice", "port: 1\nrole: head\nport: 2\n", [
    `cfg.yaml:3:1: "port" is given twice, first at cfg.yaml:1:1: remove one`,
  ]],
  ["a key twice in other case", "port: 1\nPort: 2\n", [
    `cfg.yaml:2:1: "Port" is given twice, first at cfg.yaml:1:1: remove one`,
  ]],
  ["a key twice by level and by dots", "service:\n  name: a\nservice.name: b\n", [
    `cfg.yaml:3:1: "service.name" is given twice, first at cfg.yaml:2:3: remove one`,
  ]],
  ["a key and its older name", "loglevel: info\nlog_level: warn\n", [
    `cfg.yaml:2:1: "loglevel" is given twice, first at cfg.yaml:1:1: remove one`,
  ]],
  ["a merge key", "labels: &l {a: b}\nservice:\n  <<: *l\n", [
    `cfg.yaml:3:3: "<<" is a merge key, which is not supported: write the keys out`,
  ]],
  ["a tab", "service:\n\tname: a\n", ["cfg.yaml:2:1: must not be indented with a tab: use spaces"]],
  ["a tab after blanks", "service:\n  \tname: a\n", [
    "cfg.yaml:2:3: must not be indented with a tab: use spaces",
  ]],
  ["a tab within brackets", "bootstrap: [a,\n\tb]\n", [
    "cfg.yaml:2:2: must not be indented with a tab: use spaces",
  ]],
  ["a colon in a value", "name: a: b\n", [
    "cfg.yaml:1:7: must be valid YAML: quote a value that contains a colon and a space",
  ]],
  ["a second document", "port: 1\n---\nport: 2\n", [
    "cfg.yaml:2:1: must hold one YAML document: remove the second ---",
  ]],
  ["an open quote", "name: 'a\n", ["cfg.yaml:2:1: must be valid YAML: Missing closing 'quote"]],
  ["a tag", "name: !!binary aGk=\n", ["cfg.yaml:1:16: must be plain YAML: remove the tag"]],
  ["an alias without anchor", "name: *a\n", [
    "cfg.yaml:1:7: must be valid YAML: nothing before has the anchor of *a",
  ]],
  ["a list as the whole file", "- port\n", ["cfg.yaml:1:1: must hold key: value"]],
  ["a key that finds the file", "config: /x\n", [
    `cfg.yaml:1:1: "config" cannot stand in the file: use --config or OF_CONFIG`,
  ]],
  ["a service without address", "service.name: a\n", [
    `cfg.yaml:1:1: "service.name" needs exactly one of service.port, service.url and service.socket`,
  ]],
  ["a service with two addresses", "service: {name: a, port: 1, url: http://b}\n", [
    `cfg.yaml:1:11: "service.name" needs exactly one of service.port, service.url and service.socket`,
  ]],
  ["an address without service", "service.port: 1\n", [
    `cfg.yaml:1:1: "service.port" needs service.name beside it`,
  ]],
  ["two services of one name", "services:\n- {name: a, port: 1}\n- {name: a, port: 2}\n", [
    `cfg.yaml:3:4: "service.name" must differ between services: "a" is given twice`,
  ]],
  ["a service with an unknown key", "services:\n- {nme: a, port: 1}\n", [
    `cfg.yaml:2:4: "service.nme" is no key of the configuration: did you mean "service.name"?`,
    `cfg.yaml:2:3: "services" needs a name in each entry`,
  ]],
  ["a service that is a text", "services: [a]\n", [
    `cfg.yaml:1:12: "service" must hold key: value`,
    `cfg.yaml:1:12: "services" needs a name in each entry`,
  ]],
  ["a URL with a password", "service: {name: a, url: 'http://u:p@b'}\n", [
    `cfg.yaml:1:20: "service.url" must be an http or https URL without user, query and fragment`,
  ]],
  ["a caller who is no peer", "service: {name: a, port: 1, allow: [bob]}\n", [
    `cfg.yaml:1:29: "service.allow" must be network alone, or PeerIds: got "bob"`,
  ]],
  ["a header with a line break", `service: {name: a, port: 1, upstream_headers: {x: "a\\nb"}}\n`, [
    `cfg.yaml:1:29: "service.upstream_headers" must hold header names and visible ASCII values: see "x"`,
  ]],
  ["a secret in two places", "network: {secret: a, secret_file: /s}\n", [
    `cfg.yaml:1:22: "network.secret_file" cannot stand beside network.secret: remove one`,
  ], { files: { "/s": "b" } }],
  ["a secret's file that is missing", "network.secret_file: /s\n", [
    `cfg.yaml:1:1: "network.secret_file" must name a file that exists: "/s" does not`,
  ]],
  ["a host that is a name", "mesh.hosts: [localhost]\n", [
    `cfg.yaml:1:1: "mesh.hosts" must hold IP addresses: got "localhost"`,
  ]],
  ["a network that is none", "mesh.announce_filter: [10.0.0.0/33]\n", [
    `cfg.yaml:1:1: "mesh.announce_filter" must hold networks such as 10.0.0.0/8: got "10.0.0.0/33"`,
  ]],
  ["a wrong variable", "", [`OF_PORT: must be a whole number from 0 to 65535: got "x"`], {
    env: { OF_PORT: "x" },
  }],
  ["a wrong flag", "", [`--role: must be one of head, worker, relay: got "boss"`], {
    flags: { role: "boss" },
  }],
  ["services in a variable that are none", "", [
    `OF_SERVICES: "services" must be a list of services: got "7"`,
  ], { env: { OF_SERVICES: "7" } }],
  ["a file that protects nothing here", "security:\n  access_control:\n    policy: whitelist\n", [
    `cfg.yaml:3:5: "security.access_control.policy" is set, but this version cannot enforce it (Who may use this node's services): remove it`,
  ]],
];

for (const [name, text, problems, around] of mistakes) {
  Deno.test(`loadConfig says where and how to mend ${name}`, () => {
    deepEqual(problemsOf(text, around), problems);
  });
}

Deno.test("loadConfig tells every problem at once, and of very many the first twenty", () => {
  deepEqual(problemsOf("port: a\nrole: b\n").length, 2);
  const many = problemsOf(Array.from({ length: 100 }, (_, n) => `zebra${n}: 1`).join("\n"));
  equal(many.length, 21);
  equal(many[20], "and 80 more");
});

Deno.test("C081: a key given twice is refused at its second place, and a merge key by name", () => {
  const file = readInput("C081-yaml-dup.yaml");
  const problems = problemsOf(file);
  const second = problems.filter((line) => line.includes("is given twice"));
  equal(second.length, 2);
  match(second[0], /^cfg\.yaml:9:3: "port" is given twice, first at cfg\.yaml:8:3/);
  match(second[1], /^cfg\.yaml:10:1: "port" is given twice, first at cfg\.yaml:1:1/);
  match(problems.join("\n"), /cfg\.yaml:7:3: "<<" is a merge key, which is not supported/);
});

Deno.test("C082: a tab is called a tab with its line, and BOM and CRLF load", () => {
  const file = readInput("C082-yaml-tab.yaml");
  deepEqual(problemsOf(file), ["cfg.yaml:2:1: must not be indented with a tab: use spaces"]);
  const mended = new TextDecoder("utf-8", { ignoreBOM: true }).decode(file)
    .replace("\tname", "  name").replace("  \tport", "  port");
  const { config, origins } = loadText(mended);
  equal(config.services[0].url, "http://127.0.0.1:8000");
  match(origins.get("service.name")?.where ?? "", /:2:3$/);
});

Deno.test("C082: a tab inside a text that spans lines is no indentation", () => {
  equal(loadText("labels:\n  a: |\n    x\n    \ty\n").config.labels.a, "x\n\ty\n");
});
