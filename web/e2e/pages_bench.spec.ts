// The page that measures speed, and shows it only where the results are right.
import { readFileSync } from "node:fs";
import type { BenchReport } from "../site/src/bench_report.ts";
import { standIn } from "./golden_tiny.ts";
import { checkLooks, expect, test } from "./pages.ts";

test.beforeEach(({ context }) => context.grantPermissions(["clipboard-read", "clipboard-write"]));

test("speeds stand beside a check, and can be taken along", async ({ open }, info) => {
  const page = await open("bench");
  const measure = page.getByRole("button", { name: "Measure" });
  await expect(measure).toBeEnabled();
  await page.getByLabel("Prompts").fill("16");
  await page.getByLabel("Answers").fill("4");
  await page.getByLabel("Repetitions").fill("2");
  await page.getByLabel("Measure what lower bounds need").uncheck();
  await page.getByLabel("Answers").press("Enter");
  const rows = page.locator("#results tbody tr");
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("pp16");
  await expect(rows.nth(1)).toContainText("writing 4");
  await expect(page.locator(".checks .right").first()).toBeVisible();
  await checkLooks(page, "bench");

  await page.getByRole("button", { name: "Copy as Markdown" }).press("Enter");
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain("| tg4 | writing 4 |");

  const saved = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).press("Enter")]);
    const path = info.outputPath(download.suggestedFilename());
    await download.saveAs(path);
    return readFileSync(path);
  };
  const report = JSON.parse((await saved("Save as JSON")).toString()) as BenchReport;
  expect(report.tests.map(({ name }) => name)).toEqual(["pp16", "tg4"]);
  expect(report.check.correct).toBe(true);
  expect((await saved("Save a picture")).subarray(1, 4).toString()).toBe("PNG");
});

test("no speed is shown where the results are wrong", async ({ open }) => {
  const test = {
    name: "tg32",
    mean_tokens_per_second: 123456,
    tokens_per_second_deviation: 1,
    median_seconds: 1,
    floor_seconds: null,
    floor_share: null,
    bytes_per_token: 1,
    bytes_per_second: 1,
    launches_per_token: 35,
  };
  const wrong: BenchReport = {
    model: "m",
    device: "d",
    backend: "webgpu",
    tests: [test],
    bandwidth_bytes_per_second: 1,
    launch_seconds: 1,
    time_to_first_token_seconds: null,
    load: { total_seconds: 1, plan_seconds: 1, device_seconds: 1, self_test_seconds: 0 },
    pipelines: { compiled: 1, cached: 0, seconds: 1 },
    memory_bytes: { device_peak: 1 },
    check: { correct: false, greedy_repeats: true, logits_finite: true, batches_are_right: true, max_relative_error: 0.25, error_limit: 0.01 },
  };
  const page = await open("bench", (own) => standIn(own, "bench", [{ phase: "bench", doing: "tg32" }], wrong));
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.getByRole("alert")).toContainText("no speed is shown");
  await expect(page.locator(".checks .wrong")).toHaveText("✗ Differs from the CPU: 2.5e-1 of the largest logit, limit 1e-2.");
  await expect(page.locator("#results")).not.toContainText("123");
  await expect(page.locator("#results button")).toHaveCount(0);
  await checkLooks(page, "bench-wrong");
});

test("what the fields do not take is said, and nothing is measured", async ({ open }) => {
  const page = await open("bench");
  await expect(page.getByRole("button", { name: "Measure" })).toBeEnabled();
  await page.getByLabel("Prompts").fill("many");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.getByLabel("Prompts")).toBeFocused();
  await expect(page.locator("#results")).toBeEmpty();
  await page.getByLabel("Prompts").fill("100000");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.locator("#bench .error")).toContainText("2048");
});
