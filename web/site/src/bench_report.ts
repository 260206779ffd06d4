// The result of `engine.bench()`, as in `tokamak bench -o json`, and that as text.
import type { BenchCheck, BenchReport, BenchTest, Engine } from "tokamak-web";
import { bytes, figure, seconds } from "./numbers.ts";
import { deviceLines } from "./report.ts";

/** "pp512": reading a prompt, "tg128": generating; for people. */
export function testTitle(name: string): string {
  const [, kind, tokens, rest] = /^(pp|tg)(\d+)(.*)$/.exec(name) ?? [];
  if (!kind) return name;
  const depth = /@ d(\d+)/.exec(rest ?? "")?.[1];
  const what = kind === "pp" ? `reading a prompt of ${tokens}` : `writing ${tokens}`;
  return depth ? `${what} after ${depth}` : what;
}

export const speedText = (test: BenchTest) =>
  `${figure(test.mean_tokens_per_second)} ± ${figure(test.tokens_per_second_deviation)}`;

/** A finite number as text; bounds that were not measured are none. */
const known = (value: number | null, text: (value: number) => string) =>
  value !== null && Number.isFinite(value) && value > 0 ? text(value) : "–";

/** The one number of a report: how fast it writes, or where nothing was written reads, and what the device's memory allows of that. */
export function headline(tests: BenchTest[]): { number: string; words: string } {
  const test = tests.find(({ name }) => name.startsWith("tg")) ?? tests[0]!;
  const what = test.name.startsWith("tg") ? "written" : "read";
  const share = known(test.floor_share, (found) => `, ${Math.round(100 * found)} % of what its memory allows,`).replace("–", "");
  return { number: figure(test.mean_tokens_per_second), words: `tokens a second are ${what}${share}` };
}

export const TITLES = ["Test", "What", "Tokens/s", "Median", "Lower bound", "Of it", "Launches/token", "Moved/token"];

export function testCells(test: BenchTest): string[] {
  return [
    test.name,
    testTitle(test.name),
    speedText(test),
    seconds(test.median_seconds),
    known(test.floor_seconds, seconds),
    known(test.floor_share, (share) => `${Math.round(100 * share)} %`),
    figure(test.launches_per_token),
    bytes(test.bytes_per_token),
  ];
}

/** The checks of the results, a sentence each, and whether they are right. */
export function checkLines(check: BenchCheck): { text: string; right: boolean }[] {
  const { max_relative_error: error, error_limit: limit } = check;
  const lines = [
    { right: check.greedy_repeats, text: check.greedy_repeats ? "Greedy tokens repeat." : "Greedy tokens differ from run to run." },
    { right: check.logits_finite, text: check.logits_finite ? "Logits are finite." : "Logits are not finite." },
  ];
  if (!check.batches_are_right) lines.push({ right: false, text: "Sequences at once give wrong tokens." });
  if (error !== null && limit !== null) {
    const right = error <= limit;
    const numbers = `${error.toExponential(1)} of the largest logit, limit ${limit.toExponential(0)}`;
    lines.push({ right, text: `${right ? "Agrees with" : "Differs from"} the CPU: ${numbers}.` });
  }
  return lines;
}

/** [name, value] of what is not a test's. */
export function facts(report: BenchReport, engine: Engine): [string, string][] {
  const { load, pipelines } = report;
  const first = report.time_to_first_token_seconds;
  const bound = Number.isFinite(report.bandwidth_bytes_per_second) && report.bandwidth_bytes_per_second > 0;
  return [
    ...(first === null ? [] : [["First token", `${seconds(first)} after the first prompt`] as [string, string]]),
    ["Load", `${seconds(engine.loadTimes.total)}: plan and kernels ${seconds(load.plan_seconds)}, weights ${seconds(load.device_seconds)}`],
    // The CPU has none.
    ...(pipelines.compiled === 0 ? [] : [["Pipelines", `${pipelines.compiled} compiled in ${seconds(pipelines.seconds)}`] as [string, string]]),
    ...(bound ? [["Bandwidth", `${bytes(report.bandwidth_bytes_per_second)}/s, a launch ${seconds(report.launch_seconds)}`] as [string, string]] : []),
    ["Memory", `${bytes(report.memory_bytes.device_peak)} on the device at most`],
  ];
}

export function markdown(report: BenchReport, engine: Engine): string {
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    ...deviceLines(engine),
    "",
    row(TITLES),
    row(TITLES.map((_, index) => (index < 2 ? "---" : "---:"))),
    ...report.tests.map((test) => row(testCells(test))),
    "",
    ...facts(report, engine).map(([name, value]) => `- ${name}: ${value}`),
    ...checkLines(report.check).map(({ text }) => `- ${text}`),
    "",
  ].join("\n");
}
