import { runClosedLoop } from "./load/closed_loop.ts";
import { Samples } from "./load/samples.ts";
const [url, levels, k] = Deno.args;
const cpu = (pid: string) => {
  const f = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1].split(" ");
  return (Number(f[11]) + Number(f[12])) * 10;
};
const pids = Deno.readTextFileSync("/tmp/pids").trim().split("\n");
const names = ["engine", "plain", "head", "worker"];
const s = new Samples(2_000_000);
for (let r = 0; r < Number(k); r++) {
  for (const c of levels.split(",")) {
    const c0 = pids.map(cpu);
    const res = await runClosedLoop({
      kind: "closed_loop",
      url,
      connections: Number(c),
      warmUpMs: 300,
      measuredMs: 2000,
    }, s);
    const c1 = pids.map(cpu);
    const n = res.rps * 2.3;
    console.log(
      c,
      "rps",
      Math.round(res.rps),
      "p50",
      res.p50_ms.toFixed(2),
      "p99",
      res.p99_ms.toFixed(2),
      "us/req",
      names.map((x, i) => `${x} ${Math.round((c1[i] - c0[i]) * 1000 / n)}`).join(" "),
    );
  }
}
