import { deepEqual, equal } from "node:assert/strict";
import { HistogramFamily } from "../../../lib/metrics/histogram_family.ts";
import { labelCharactersMax, SeriesFamily } from "../../../lib/metrics/series_family.ts";

function family(seriesMax: number): SeriesFamily {
  return new SeriesFamily({
    name: "otela_test_total",
    help: "Test",
    type: "counter",
    labelNames: ["a", "b"],
    seriesMax,
  });
}

Deno.test("SeriesFamily gives the same series for the same labels, and cuts long ones", () => {
  const counters = family(8);
  counters.child("x", "y").value++;
  counters.child("x", "y").value++;
  counters.child("x", "z".repeat(500)).value++;
  deepEqual(counters.get().values, [
    { labels: { a: "x", b: "y" }, value: 2 },
    { labels: { a: "x", b: "z".repeat(labelCharactersMax) }, value: 1 },
  ]);
});

Deno.test("SeriesFamily forgets the least recently used series, when it is full", () => {
  const counters = family(2);
  counters.child("1", "").value = 1;
  counters.child("2", "").value = 2;
  counters.child("1", "");
  counters.child("3", "").value = 3;
  deepEqual(counters.get().values.map(({ value }) => value), [1, 3]);
});

Deno.test("HistogramFamily counts each value in its bucket and in all greater ones", () => {
  const histogram = new HistogramFamily("otela_test_seconds", "Test", "service", [1, 2]);
  for (const seconds of [-1, 1, 1.5, 3]) histogram.child("llm").observe(seconds);
  const values = histogram.get().values.map(({ value }) => value);
  // le=1, le=2, le=+Inf, sum, count.
  deepEqual(values, [2, 3, 4, 5.5, 4]);
  equal(histogram.get().values[0].metricName, "otela_test_seconds_bucket");
});
