import { rejects } from "node:assert/strict";
import { makePlan } from "../../lib/gateway/forward_plan.ts";
import { chatOf, startForwardRig } from "../support/forward_rig.ts";
import { claim, entry, peer, service, viewOf } from "../unit/gateway/fixture.ts";

Deno.test("makePlan reads what the lost are known by from the body, also when nobody here minds it", async () => {
  await using rig = startForwardRig({ engines: [] });
  const here = entry(peer("A"), claim(service("llm", "lora=tuned")));
  const lost = entry(peer("B"), claim(service("llm", "model=lost")), "left");
  const views = [viewOf(here, lost), viewOf(lost)];
  for (const view of views) {
    for (const [model, code] of [["lost", "no_candidate"], ["other", "model_not_found"]]) {
      const body = JSON.stringify(chatOf(3, { model }));
      const request = new Request("http://127.0.0.1/", { method: "POST", body });
      const patience = rig.ports.deadlines.begin(60_000, performance.now(), () => {});
      const target = {
        kind: "service",
        service: "llm",
        path: "/v1/chat/completions",
        publicPrefix: "",
      } as const;
      const plan = makePlan({ ...rig.ports, view: () => view }, request, target, [], patience);
      await rejects(plan, { code });
      patience.end();
    }
  }
});
