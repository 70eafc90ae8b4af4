import { equal } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { loadConfig } from "../../../lib/config/load.ts";
import { exitCodeOf } from "../../../cli/exit_code.ts";
import { runCommand } from "../../support/command_io.ts";
import { expectGolden } from "../../support/golden.ts";

const inputs = fileURLToPath(new URL("../../cases/inputs", import.meta.url));

/** What a person sees, wherever the repository lies. */
async function transcript(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await runCommand(args, { env });
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value} `).join("");
  const line = `$ ${variables}otela ${args.join(" ")}`;
  return [line, ...err, ...out, `exit code ${code}`].join("\n").replaceAll(inputs, "/etc")
    .replace(/^(config +\S+) +/m, "$1  "); // Else padded as far as the real path is long.
}

Deno.test("config show tells each value and where it came from, and no secret", async () => {
  const args = ["config", "show", "--config", `${inputs}/worker-cfg.yaml`, "--port", "0"];
  const env = { OF_LOG_LEVEL: "warn", OF_LABELS: "site=Bern" };
  const text = await transcript(args, env);
  const json = await transcript([...args, "--json"], env);
  equal((text + json).includes("hush"), false);
  equal((text + json).includes("horse"), false);
  await expectGolden("config_show.txt", `${text}\n\n${json.replaceAll("},{", "},\n{")}\n`);
});

Deno.test("config check says what is wrong, where, and how to mend it", async () => {
  const file = (name: string) => ["config", "check", "--config", `${inputs}/${name}`];
  const texts = [
    await transcript(file("worker-cfg.yaml")),
    await transcript([...file("worker-cfg.yaml"), "--json"]),
    await transcript(file("original-seeded-cfg.yaml")),
    await transcript(file("C081-yaml-dup.yaml")),
    await transcript([...file("C081-yaml-dup.yaml"), "--json"]),
    await transcript(file("C082-yaml-tab.yaml")),
    await transcript(file("missing.yaml")),
    await transcript(["config", "check"], { OF_PORT: "http", OF_SERVCE_PORT: "1" }),
    await transcript(["config", "check", "--role", "boss", "--tcpport", "70000"]),
    await transcript(["config", "check", "--subprocess", "vllm serve"]),
    await transcript(["config", "check", "--seed", "7", "--solana.rpc", "http://localhost"]),
  ];
  await expectGolden("config_check.txt", texts.join("\n\n") + "\n");
});

/** Files with one mistake each. */
const mistakes = [
  "servce:\n  name: llm\n",
  "role: head\nport: abc\n",
  "role: boss\n",
  "network: true\n",
  "registry.lease: 30\n",
  "port: 1\nPort: 2\n",
  "labels: &l {a: b}\nservice:\n  <<: *l\n",
  "service:\n  name: llm\n",
  "services: [llm]\n",
  "security:\n  access_control:\n    policy: whitelist\n",
];

Deno.test("a file with a mistake is refused in words that help", async () => {
  const texts = mistakes.map((text) => {
    try {
      loadConfig({
        flags: {},
        env: {},
        home: "/home/ada",
        cwd: "/",
        readFile: (path) => path.includes("opentela") ? new TextEncoder().encode(text) : undefined,
      });
      return `${text}---\naccepted`;
    } catch (error) {
      return `${text}---\notela: ${(error as Error).message}\nexit code ${exitCodeOf(error)}`;
    }
  });
  await expectGolden("config_errors.txt", texts.join("\n\n") + "\n");
});
