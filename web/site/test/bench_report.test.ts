// The one number of a benchmark.
import type { BenchTest } from "tokamak-web";
import { expect, test } from "vitest";
import { headline } from "../src/bench_report.ts";

const of = (name: string, mean_tokens_per_second: number, floor_share: number | null = null) => ({ name, mean_tokens_per_second, floor_share }) as BenchTest;

test("it is how fast the model writes, beside what the memory allows; else how fast it reads", () => {
  const read = of("pp128", 5000);
  expect(headline([read, of("tg32", 1905.6, 0.823)])).toEqual({ number: "1,906", words: "tokens a second are written, 82 % of what its memory allows," });
  expect(headline([read, of("tg32", 42.12)])).toEqual({ number: "42.1", words: "tokens a second are written" });
  expect(headline([read])).toEqual({ number: "5,000", words: "tokens a second are read" });
});
