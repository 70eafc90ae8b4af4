// Does a good address win however many are bad?
import { deepEqual, equal, rejects } from "node:assert/strict";
import { dialRace } from "../../../lib/mesh/dial_race.ts";

const signal = new AbortController().signal;
const options = { staggerMs: 1, budgetMs: 1_000, signal, discard: () => {} };

function never(_: unknown, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

Deno.test("dialRace returns the first that answers and aborts the rest", async () => {
  let aborted = 0;
  const won = await dialRace(["hole", "hole", "good", "late"], async (address, signal) => {
    signal.addEventListener("abort", () => aborted++);
    return address === "good" ? await Promise.resolve(address) : await never(address, signal);
  }, options);
  equal(won, "good");
  equal(aborted, 3);
});

Deno.test("dialRace goes on at once when an address fails", async () => {
  const tried: string[] = [];
  const won = await dialRace(["bad", "worse", "good"], (address) => {
    tried.push(address);
    return address === "good" ? Promise.resolve(address) : Promise.reject(new Error(address));
  }, { ...options, staggerMs: 60_000 });
  equal(won, "good");
  deepEqual(tried, ["bad", "worse", "good"]);
});

Deno.test("dialRace tells what every address said", async () => {
  const race = dialRace(["a", "b"], (address) => Promise.reject(new Error(address)), options);
  await rejects(race, (error: AggregateError) => {
    deepEqual(error.errors.map(({ message }) => message), ["a", "b"]);
    return true;
  });
  await rejects(dialRace([], never, options), AggregateError);
});

Deno.test("dialRace ends with its budget and with its signal", async () => {
  await rejects(dialRace(["hole"], never, { ...options, budgetMs: 5 }), AggregateError);
  const giveUp = new AbortController();
  const race = dialRace(["hole"], never, { ...options, signal: giveUp.signal });
  giveUp.abort(new Error("enough"));
  await rejects(race, AggregateError);
  await rejects(dialRace(["hole"], never, { ...options, signal: giveUp.signal }), AggregateError);
});

Deno.test("dialRace discards what a loser opened after all", async () => {
  const slow = Promise.withResolvers<string>();
  const discarded: string[] = [];
  const won = await dialRace(
    ["slow", "good"],
    (address) => address === "slow" ? slow.promise : Promise.resolve(address),
    { ...options, discard: (late: string) => discarded.push(late) },
  );
  equal(won, "good");
  slow.resolve("slow");
  await slow.promise;
  await Promise.resolve();
  deepEqual(discarded, ["slow"]);
});
