// Is an https engine asked only when its certificate is trusted?
import { equal, match } from "node:assert/strict";

const file = (name: string) => new URL(`../support/tls/${name}`, import.meta.url).pathname;

/** Asks in a process of its own, since what is trusted is decided when a process starts. */
async function ask(url: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-net", file("ask.ts"), url],
    env,
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("EnginePool asks an https engine by name and by number, and sends nothing to one it does not trust", async () => {
  let asked = 0;
  const engine = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: await Deno.readTextFile(file("engine.pem")),
    key: await Deno.readTextFile(file("engine.key")),
    onListen: () => {},
  }, () => new Response(`asked ${++asked}`));
  const { port } = engine.addr;
  const trusted = { DENO_CERT: file("authority.pem") };
  equal(await ask(`https://localhost:${port}`, trusted), "asked 1");
  equal(await ask(`https://127.0.0.1:${port}`, trusted), "asked 2");
  match(await ask(`https://localhost:${port}`, {}), /^connecting: .*certificate/);
  equal(asked, 2);
  await engine.shutdown();
});
