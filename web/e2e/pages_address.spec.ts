// Every selection is in the address: who is sent it sees the same.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { answer, expect, test } from "./pages.ts";

const RECORDED = JSON.parse(readFileSync(join(import.meta.dirname, "data/profile.json"), "utf8")) as object;
const hashOf = (page: Page) => new URL(page.url()).hash;

test("the timeline's address has the step and the dispatch", async ({ open }) => {
  const page = await open("timeline", (made) => answer(made, [{ verb: "profile", result: RECORDED }]));
  await page.getByLabel("after").fill("64");
  await page.getByRole("button", { name: "Measure" }).click();
  const track = page.getByRole("listbox", { name: "Dispatches of the step" });
  await track.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => hashOf(page)).toBe("#tokens=1&depth=64&at=2");
  await page.reload();
  await expect(page.getByLabel("after")).toHaveValue("64");
  await page.getByRole("button", { name: "Measure" }).click();
  await expect(page.locator("#detail h3")).toHaveText(/^2: /);
});

test("so have the bench's its fields, and the kernels' a kernel and a device", async ({ open }) => {
  const bench = await open("bench");
  await bench.getByText("What is measured").press("Enter");
  await bench.getByLabel("Prompts").fill("16, 64");
  await expect.poll(() => hashOf(bench)).toBe("#prompts=16%2C+64");
  await bench.reload();
  await expect(bench.getByLabel("Prompts")).toHaveValue("16, 64");
  await bench.getByText("What is measured").press("Enter");
  await bench.getByLabel("Prompts").fill("128");
  await expect.poll(() => hashOf(bench)).toBe("");
  await bench.close();

  const kernels = await open("kernels");
  await kernels.getByLabel("Device").selectOption("4");
  await expect(kernels.locator("#device .status")).toContainText("on an assumed device");
  await kernels.getByRole("listbox").focus();
  await kernels.keyboard.press("End");
  const name = (await kernels.locator(".detail-of-kernel h2").textContent())!;
  await expect.poll(() => hashOf(kernels)).toBe(`#${name}&device=4`);
  await kernels.reload();
  await expect(kernels.getByLabel("Device")).toHaveValue("4");
  await expect(kernels.locator(".detail-of-kernel h2")).toHaveText(name);
});
