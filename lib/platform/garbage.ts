// How does a thread give back what it no longer needs?
import { type Ms, secondMs } from "../base/units.ts";
import { GarbagePlan, type ThreadWork } from "./garbage_plan.ts";

/** How often it is looked whether the thread rests: two looks in a row are a rest. */
const lookMs: Ms = secondMs;

/** `--expose-gc` among the V8 flags of our tasks and executables gives it; elsewhere it is absent. */
type Collector = {
  gc?: (how: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;
};

/** Collects this thread's garbage while it rests, for as long as it lives. */
export function collectGarbageAtRest(workOf: () => ThreadWork): void {
  const { gc } = globalThis as Collector;
  if (!gc) return;
  const plan = new GarbagePlan(performance.now());
  const look = () => {
    if (!plan.isDue(workOf(), Deno.memoryUsage().heapUsed, performance.now())) return;
    // The last resort also gives free pages back.
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    plan.collected(Deno.memoryUsage().heapUsed);
  };
  Deno.unrefTimer(setInterval(look, lookMs));
}
