import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, checkLooks, expect, test } from "./pages.ts";

interface Recorded {
  steps: { kernel: string; layer: number | null; us: number }[];
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

  await page.getByRole("button", { name: "Play" }).click();
  await at(steps.length - 1);
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
});

test("timeline: counts where there is no clock", async ({ open }) => {
  const message = "The device has no timestamps to time kernels with.";
  const page = await open("timeline", async (made) => {
    await answer(made, [{ verb: "profile", error: { code: "unsupported", message } }]);
  });
  await expect(page.getByText("On the processor a measurement takes a minute or more")).toBeVisible();
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
