// A model of the visitor's: dropped with the mouse, chosen by keyboard, and what is no model.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "./pages.ts";
import { DATA, TALKING } from "./pages_server.ts";

const GGUF = join(DATA, "gguf/llama-q4_0.gguf");

/** Drags these files of the disk over the page, and lets go. */
async function drop(page: Page, files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  const { x, y } = { x: 640, y: 700 }; // somewhere below the panel
  const drag = (type: "dragEnter" | "dragOver" | "drop") => session.send("Input.dispatchDragEvent", { type, x, y, data });
  const root = page.locator("html");
  // The page says with each event whether it takes the files; on a busy machine that arrives after what follows, and
  // files that are let go before are gone.
  await expect(async () => {
    await drag("dragEnter");
    await drag("dragOver");
    await expect(root).toHaveAttribute("data-dropping", { timeout: 1000 });
    await drag("drop");
    await expect(root).not.toHaveAttribute("data-dropping", { timeout: 1000 });
  }).toPass();
  await session.detach();
}

/** Chooses files, or a folder, with the button of that name, by keyboard. */
async function choose(page: Page, button: string, files: string | string[]): Promise<void> {
  if (await page.locator(".sheet").isHidden()) await page.locator(".chip").press("Enter");
  // On a busy machine Chromium was seen to lose the files of a chooser; choosing again gives them, at once or never.
  await expect(async () => {
    const chooser = page.waitForEvent("filechooser", { timeout: 8000 });
    await page.getByLabel(button).focus();
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(files, { timeout: 8000 });
  }).toPass({ timeout: 20000 });
}

// A chooser whose files are lost may hold up those after it, too: then a new page is begun with.
test.describe.configure({ retries: 2, timeout: 120000 });

for (const name of ["chat", "inspect"]) {
  test(`${name}: a folder and a .gguf file, by mouse and by keyboard`, async ({ open }) => {
    const folder = join(TALKING, "../chosen");
    mkdirSync(join(folder, "more"), { recursive: true });
    for (const file of ["cat.png", "more/config.json"]) writeFileSync(join(folder, file), "{}");
    const page = await open(name);
    const status = page.locator("#model-status");
    const alert = page.getByRole("alert");
    await drop(page, [TALKING]);
    await expect(status).toContainText("talking: Qwen3ForCausalLM");
    await drop(page, [GGUF]);
    await expect(status).toContainText("LlamaForCausalLM");
    await choose(page, "Folder …", TALKING);
    await expect(status).toContainText("talking: Qwen3ForCausalLM");
    for (let times = 0; times < 2; ++times) {
      await choose(page, "Files …", GGUF);
      await expect(status).toContainText("LlamaForCausalLM");
    }
    if (name === "chat") await expect(status).toContainText("on the processor");

    await drop(page, [join(folder, "cat.png")]);
    await expect(alert).toHaveText(/^There is neither a config.json nor a .gguf file; found: cat.png. A model is one .gguf file, or a folder with /);
    await drop(page, [folder]);
    await expect(alert).toContainText("found: cat.png.");
    await drop(page, [folder, TALKING]);
    await expect(alert).toHaveText("Drop one folder, or the files of one model.");
    await drop(page, [join(folder, "more/config.json")]);
    await expect(alert).toContainText("neither model.safetensors nor model.safetensors.index.json");
    await drop(page, [TALKING]);
    await expect(status).toContainText("talking: Qwen3ForCausalLM");
    await expect(alert).toHaveCount(0);
  });
}
