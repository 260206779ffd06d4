import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, checkLooks, expect, test } from "./pages.ts";

interface Recorded {
  steps: { kernel: string; layer: number | null; us: number }[];
  fusion: { unfused: string[] }[];
}

// A recording by `tokamak profile --html` of the tiny model on a software driver; its texts are cut.
const RECORDED = JSON.parse(readFileSync(join(import.meta.dirname, "data/profile.json"), "utf8")) as Recorded;

test("timeline: draws a step, goes through it by keyboard, plays", async ({ open }) => {
  test.setTimeout(120_000);
  const { steps } = RECORDED;
  const page = await open("timeline", async (made) => {
    await answer(made, [{ verb: "profile", result: RECORDED }]);
  });
  await page.getByRole("button", { name: "Measure" }).click(); // on the processor not by itself
  const track = page.getByRole("listbox", { name: "Dispatches of the step" });
  await expect(track.getByRole("option")).toHaveCount(steps.length);
  expect(await page.title()).toContain("Timeline");
  await expect(page.getByRole("link", { name: "The text of this kernel" })).toHaveAttribute("href", /^\.\/kernels\.html#\w+\.wgsl\.\w+$/);
  expect((await track.boundingBox())!.y).toBeLessThan(600); // it is on the first screen
  const detail = page.locator("#detail h3");
  const at = async (index: number) => expect(detail).toHaveText(`${index}: ${steps[index]?.kernel}`);
  await track.focus();
  await page.keyboard.press("Home");
  await at(0);
  await page.keyboard.press("ArrowRight");
  await at(1);
  const firstOf = (layer: number) => steps.findIndex((step) => step.layer === layer);
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  await at(firstOf(0));
  await page.keyboard.press("Shift+ArrowRight");
  await at(firstOf(1));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowLeft");
  await at(firstOf(0));

  await page.getByLabel("Color").selectOption("floor");
  await expect(page.locator("#legend")).toContainText("100 % of roofline");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.locator("#legend")).toContainText("100 % of roofline"); // what was chosen stays
  await at(firstOf(0));
  await page.getByLabel("Color").selectOption("op");
  await checkLooks(page, "timeline");

  // A lane for each layer, or one row with the roofline as a second bar; what it was before fusion.
  expect(await track.locator(".lane").evaluateAll((all: HTMLElement[]) => all.map((lane) => lane.dataset["name"]))).toEqual(["", "layer 0", "layer 1", ""]);
  await page.getByLabel("before fusion").check();
  await expect(track.locator(".origin-op")).toHaveCount(RECORDED.fusion.reduce((sum, { unfused }) => sum + unfused.length, 0));
  await expect(page.locator("#legend")).toContainText("rms norm 9 ×");
  await checkLooks(page, "timeline-before");
  await page.getByLabel("Rows").selectOption("one");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.getByText("The second bar is the roofline: 3.09 ms, 60.3 % of the time.")).toBeVisible();
  await expect(track.locator(".lane")).toHaveCount(0); // what was chosen stays
  await page.getByLabel("before fusion").uncheck();
  await expect(track.locator(".origin-op")).toHaveCount(0);

  await page.getByRole("button", { name: "Play" }).click();
  await at(steps.length - 1);
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
});

test("timeline: more than memory gives is no share of the roofline", async ({ open }) => {
  const slow = { ...RECORDED, bandwidth: 1e6 };
  const page = await open("timeline", (made) => answer(made, [{ verb: "profile", result: slow }]));
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.locator("#figures div", { hasText: "of roofline" })).toContainText("beyond it, by caches");
  await expect(page.locator("#detail")).toContainText("at the bandwidth of memory; caches give more");
  await page.getByLabel("Rows").selectOption("one");
  await expect(page.getByText(/^At the bandwidth of the device's memory it would take/)).toBeVisible();
});

test("timeline: counts where there is no clock", async ({ open }) => {
  const message = "The device has no timestamps to time kernels with.";
  const page = await open("timeline", async (made) => {
    await answer(made, [{ verb: "profile", error: { code: "unsupported", message } }]);
  });
  await expect(page.getByText("On the processor a measurement takes a while")).toBeVisible();
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.getByText(message)).toBeVisible();
  await expect(page.getByRole("heading", { name: "prefill: 21 dispatches for up to 512 tokens" })).toBeVisible();
  await expect(page.getByRole("cell", { name: "rms_norm.cpu.vectors", exact: true }).first()).toBeVisible();
  await checkLooks(page, "timeline-counts");
});

test("timeline: a clock that is too coarse gives counts, and no shares of nothing", async ({ open }) => {
  const steps = RECORDED.steps.map((step) => ({ ...step, us: 0 }));
  const page = await open("timeline", (made) => answer(made, [{ verb: "profile", result: { ...RECORDED, steps } }]));
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.getByText("The browser's clock is too coarse for kernels as short as these.")).toBeVisible();
  await expect(page.locator("#profile")).not.toContainText("NaN");
});

test("timeline: on the processor the roofline is the processor's own", async ({ context, server }) => {
  test.setTimeout(150_000);
  const page = await context.newPage();
  // A device that is none of the model's has nothing to do with it.
  await page.route(/\/worker[-\w]*\.js$/, async (route) => {
    const body = `Object.defineProperty(navigator, "gpu", { value: undefined });${await (await route.fetch()).text()}`;
    await route.fulfill({ contentType: "text/javascript", body });
  });
  await page.goto(`${server.address}timeline.html`); // the tiny model's kernels are too short for the clock
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.locator("#roofline-about")).toHaveText(/^Measured on this device: [\d,.]+ GB\/s/, { timeout: 120_000 });
});
