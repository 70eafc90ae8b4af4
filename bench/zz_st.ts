import { runEventStreams } from "./load/event_streams.ts";
import { Samples } from "./load/samples.ts";
const [url, n, k] = Deno.args;
const cpu = (pid: string) => {
  const f = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1].split(" ");
  return (Number(f[11]) + Number(f[12])) * 10;
};
const pids = Deno.readTextFileSync("/tmp/pids").trim().split("\n");
const names = ["engine", "plain", "head", "worker"];
const first = new Samples(2_000_000), gaps = new Samples(3_000_000);
for (let r = 0; r < Number(k); r++) {
  const c0 = pids.map(cpu);
  const res = await runEventStreams(
    {
      kind: "event_streams",
      url,
      connections: Number(n),
      eventCount: 64,
      intervalMs: 20,
      streamsPerConnection: 3,
    } as any,
    first,
    gaps,
  );
  const c1 = pids.map(cpu);
  const total = Number(n) * 3 * 65;
  console.log(
    JSON.stringify(res, (k, v) => typeof v === "number" ? Math.round(v * 100) / 100 : v),
    "us/event",
    names.map((x, i) => `${x} ${Math.round((c1[i] - c0[i]) * 10000 / total) / 10}`).join(" "),
  );
}
