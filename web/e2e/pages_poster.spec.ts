// The poster of a model that is dropped or chosen: drawn from its headers, saved as a picture.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkLooks, expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

test("a model that is chosen as a file is a poster, which can be saved", async ({ open }, info) => {
  const page = await open("inspect");
  await page.getByRole("tab", { name: "Poster" }).click();
  const poster = page.locator("canvas.poster");
  await expect(poster).toHaveAttribute("aria-label", /^tiny: \d+ operations become \d+ kernels$/);
  expect(new URL(page.url()).hash).toBe("#poster");
  await page.getByRole("tab", { name: "Summary" }).click();
  const buffer = readFileSync(join(DATA, "gguf/llama-q4_0.gguf"));
  await page.locator("#files").setInputFiles({ name: "llama.gguf", mimeType: "application/octet-stream", buffer });
  await expect(page.getByRole("tab", { name: "Poster" })).toHaveAttribute("aria-selected", "true");
  const label = /^llama\.gguf: (\d+) operations become (\d+) kernels$/;
  await expect(poster).toHaveAttribute("aria-label", label);
  const [, before, after] = label.exec((await poster.getAttribute("aria-label"))!)!;
  expect(Number(after)).toBeLessThan(Number(before));
  await checkLooks(page, "poster");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the poster" }).press("Enter")]);
  expect(download.suggestedFilename()).toBe("llama.gguf.png");
  await download.saveAs(info.outputPath("llama.png"));
  const png = readFileSync(info.outputPath("llama.png"));
  expect([png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(["PNG", 1200, 630]);
});
