// The page that measures speed, and shows it only where the results are right.
import { readFileSync } from "node:fs";
import type { BenchReport } from "tokamak-web";
import { standIn } from "./golden_tiny.ts";
import { checkLooks, expect, test } from "./pages.ts";

test.beforeEach(({ context }) => context.grantPermissions(["clipboard-read", "clipboard-write"]));

test("speeds stand beside a check, and can be taken along", async ({ open }, info) => {
  const page = await open("bench");
  const measure = page.getByRole("button", { name: "Measure" });
  await expect(measure).toBeEnabled();
  await page.getByText("What is measured").press("Enter");
  await page.getByLabel("Prompts").fill("16");
  await page.getByLabel("Answers").fill("4");
  await page.getByLabel("Repetitions").fill("2");
  await page.getByLabel("Measure what lower bounds need").uncheck();
  await page.getByLabel("Answers").press("Enter");
  const rows = page.locator("#results tbody tr");
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("pp16");
  await expect(rows.nth(1)).toContainText("writing 4");
  await expect(page.locator("#results .headline")).toHaveText(/^[\d.,]+ tokens a second are written on /);
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
  await page.getByText("What is measured").press("Enter");
  await page.getByLabel("Prompts").fill("many");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.getByLabel("Prompts")).toBeFocused();
  await expect(page.locator("#results")).toBeEmpty();
  await page.getByLabel("Prompts").fill("100000");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.locator("#bench .error")).toContainText("2048");
});

/** The stand-in for jsDelivr: as much of both engines as the page uses, with a note of each call. */
const FAKES: [part: string, code: string][] = [
  ["@huggingface/transformers@", `
    export const env = {};
    export class TextStreamer { constructor(tokenizer, options) { this.options = options; } }
    export const pipeline = async (task, model, { progress_callback, ...options }) => {
      if (model === "none") throw new Error("There is no model none.");
      progress_callback({ status: "progress", file: "model.onnx", progress: 40 });
      globalThis.noted = [{ task, model, ...options, ...env }];
      const run = async (prompt, { streamer, ...how }) => {
        noted.push({ prompt, ...how });
        for (let at = 0; at < how.max_new_tokens; at += 1) {
          await new Promise((go) => setTimeout(go, 5));
          streamer.options.token_callback_function([1n]);
          streamer.options.callback_function("a");
        }
      };
      return Object.assign(run, { tokenizer: {}, dispose: async () => noted.push("disposed") });
    };`],
  ["@mlc-ai/web-llm@", `
    export const CreateMLCEngine = async (model) => {
      globalThis.noted = [model];
      const create = async function* ({ messages, ...how }) {
        noted.push({ ...messages[0], ...how });
        for (const content of ["a", "b", ""]) {
          await new Promise((go) => setTimeout(go, 5));
          yield { choices: [{ delta: { content } }] };
        }
        yield { choices: [], usage: { completion_tokens: 4 } };
      };
      return { chat: { completions: { create: async (request) => create(request) } }, unload: async () => noted.push("unloaded") };
    };`],
];

test("another engine is loaded when it is asked for, and runs the same text", async ({ open, server }, info) => {
  const fetched: string[] = [];
  const page = await open("bench", (own) =>
    own.route(/^https:/, (route) => {
      const url = route.request().url();
      fetched.push(url);
      const body = FAKES.find(([part]) => url.includes(part))?.[1] ?? "";
      return route.fulfill({ contentType: "text/javascript", body, headers: { "Access-Control-Allow-Origin": "*" } });
    }));
  const noted = () => page.evaluate(() => (globalThis as unknown as { noted: unknown[] }).noted);
  await page.goto(`${server.address}bench.html?cpu&model=${server.address}talking/`);
  await expect(page.getByRole("button", { name: "Measure" })).toBeEnabled();
  await page.getByText("What is measured").press("Enter");
  await page.getByLabel("Answers").fill("4");
  await page.getByLabel("Repetitions").fill("1");
  await page.getByText("Beside another engine").click();
  expect(fetched).toEqual([]);

  await page.getByLabel("Model of Tokamak").fill(`${server.address}talking/`);
  await page.getByLabel("Model", { exact: true }).last().fill("none");
  await page.keyboard.press("Enter");
  await expect(page.locator("#bench .error")).toContainText("There is no model none.");
  await page.getByLabel("Model", { exact: true }).last().fill("some/talking-ONNX");
  await page.keyboard.press("Enter");
  const rows = page.locator("#compared tbody tr");
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText(/^Tokamaktalkingq4 of bf16, \d+ kB/);
  await expect(rows.nth(1)).toContainText("transformers.jssome/talking-ONNX4 bitsaaaa4");
  await expect(page.locator("#compared > p")).toHaveText(/^They differ after 0 characters/);
  await checkLooks(page, "bench-beside");
  const asked = { max_new_tokens: 4, min_new_tokens: 4, do_sample: false };
  const own = { task: "text-generation", model: "some/talking-ONNX", device: "webgpu", dtype: "q4", useWasmCache: false };
  expect(await noted()).toMatchObject([own, asked, asked, "disposed"]);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the comparison" }).press("Enter")]);
  await download.saveAs(info.outputPath("comparison.json"));
  const { measured } = JSON.parse(readFileSync(info.outputPath("comparison.json"), "utf8")) as { measured: { tokens: number; tokensPerSecond: number }[] };
  expect(measured.map(({ tokens }) => tokens)).toEqual([4, 4]);
  expect(measured[1]!.tokensPerSecond).toBeGreaterThan(20);
  expect(measured[1]!.tokensPerSecond).toBeLessThan(200); // a token takes 5 ms at least

  await page.getByLabel("Engine", { exact: true }).selectOption("WebLLM");
  await page.getByRole("button", { name: "Load and compare" }).press("Enter");
  await expect(rows.nth(1)).toContainText("WebLLMQwen3-0.6B-q4f32_1-MLC4 bitsab4");
  await expect(page.locator("#compared > p")).toHaveText("These are different models (talking and qwen3-0.6b): their speeds do not compare.");
  const how = { role: "user", max_tokens: 4, temperature: 0, ignore_eos: true, stream: true };
  expect(await noted()).toMatchObject(["Qwen3-0.6B-q4f32_1-MLC", how, how, "unloaded"]);
  expect(new Set(fetched.map((url) => new URL(url).host))).toEqual(new Set(["cdn.jsdelivr.net"]));
});

test("only the page bench may load another engine's code", async ({ request, server }) => {
  const policyOf = async (name: string) => /Content-Security-Policy" content="([^"]*)"/.exec(await (await request.get(`${server.address}${name}.html`)).text())![1]!;
  expect(await policyOf("bench")).toMatch(/script-src 'self' 'wasm-unsafe-eval' 'sha256-[^ ;]+' https:\/\/cdn\.jsdelivr\.net;/);
  for (const name of ["index", "chat", "memory", "validate", "docs"]) expect(await policyOf(name)).toMatch(/script-src 'self' 'wasm-unsafe-eval' 'sha256-[^ ;]+';/);
  // A Worker has the policy of its own answer.
  const headers = await (await request.get(`${server.address}_headers`)).text();
  expect(headers).toMatch(/^\/assets\/\*\n {2}Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'/m);
  expect(headers).not.toContain("jsdelivr");
});
