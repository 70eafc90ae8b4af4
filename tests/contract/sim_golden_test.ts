import { parseFaults } from "../../lib/sim/faults.ts";
import { simulate } from "../../lib/sim/simulate.ts";
import { encodeProbeMessage, type ProbeMessage } from "../../lib/membership/probe_message.ts";
import { encodeRumour } from "../../lib/membership/rumour.ts";
import { peerNumbered } from "../../lib/sim/peer_names.ts";
import { ackOf, rumourOf } from "../support/membership_node.ts";
import { calmWorld } from "../support/sim_worlds.ts";
import { expectGolden } from "../support/golden.ts";

Deno.test("World: the life of a small mesh, as it was when somebody last read it", async () => {
  const world = calmWorld(6, 1);
  world.kill(world.nodes[3]);
  world.runForMs(3_000);
  world.start(world.nodes[3], true);
  world.runForMs(5_000);
  world.pause(world.nodes[2], 20_000);
  world.runForMs(25_000);
  world.leave(world.nodes[4]);
  world.runForMs(2_000);
  world.network.split([1, 2], world.nowMs);
  world.runForMs(30_000);
  world.network.heal(world.nowMs);
  world.runForMs(10_000);
  await expectGolden("sim_life.txt", `${world.trace.lines(10_000).join("\n")}\n`);
});

Deno.test("simulate: what promises cost in virtual time", async () => {
  const rows = ["", "churn=1", "crash=1", "leave=1", "partition", "pause=0.1,loss=0.1"].map(
    (faults) => {
      const result = simulate({
        nodeCount: 100,
        seed: 1,
        faults: parseFaults(faults),
        actMs: 60_000,
      });
      return JSON.stringify({ faults, ...result, violations: result.violations.length });
    },
  );
  await expectGolden("sim_costs.jsonl", `${rows.join("\n")}\n`);
});

Deno.test("probe messages: the bytes of version 1", async () => {
  const [subject, signer] = [peerNumbered(1), peerNumbered(2)];
  const rumours = [rumourOf("failed", subject, signer), rumourOf("goodbye", subject)];
  const incarnation = { epoch: 3, counter: 1 };
  const state = { ...ackOf(7, incarnation), root: "0123456789abcdef", departed: 0xdeadbeef };
  const messages: ProbeMessage[] = [
    { ...state, type: "probe" },
    { ...state, type: "probe", rumours },
    { ...state, type: "probe", accused: incarnation },
    state,
    { ...state, rumours },
    { type: "ask", seq: 7, target: subject },
    { type: "answer", seq: 7 },
    { type: "answer", seq: 7, incarnation },
    { type: "suspect", target: subject, incarnation, silentMs: 1_000 },
    { type: "compare", buckets: Array.from({ length: 64 }, (_, at) => at * 1_000) },
    { type: "rumours", rumours: [] },
    { type: "rumours", rumours },
  ];
  const hex = (bytes: Uint8Array) =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const lines = [
    ...messages.map((message) => `${message.type} ${hex(encodeProbeMessage(message))}`),
    ...rumours.map((rumour) => `gossip:${rumour.kind} ${hex(encodeRumour(rumour))}`),
  ];
  await expectGolden("probe_messages.txt", `${lines.join("\n")}\n`);
});
