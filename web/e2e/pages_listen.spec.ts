// The page that writes down what is said: a file of sound by keyboard, the microphone, and the looks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

const SOUND = join(DATA, "speech/whisper/audio0.wav");

async function listen(page: Page, server: string, model = "hearing/"): Promise<void> {
  await page.goto(`${server}listen.html?cpu&model=${server}${model}`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
}

test("a file of sound is written down, and what the microphone hears", async ({ context, server }) => {
  const errors: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await listen(page, server.address);
  const status = page.locator("#listen > .status");
  await expect(status).toContainText("Record, choose a file of sound");

  const chooser = page.waitForEvent("filechooser");
  await page.getByLabel("Sound file …").focus();
  await page.keyboard.press("Enter");
  await (await chooser).setFiles(SOUND);
  await expect(status).toContainText("1.0 s of sound, in en, written down in");
  const lines = page.locator(".transcript li");
  await expect(lines).toHaveCount(2);
  await expect(lines.first()).toContainText("0:00");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export subtitles" }).press("Enter");
  expect(readFileSync((await (await download).path()) as string, "utf8")).toMatch(/^1\n00:00:00,660 --> 00:00:00,800\n/);
  await checkLooks(page, "listen");

  await context.grantPermissions(["microphone"]);
  const record = page.getByRole("button", { name: "Record" });
  await record.press("Enter");
  await expect(status).toContainText("Recording.");
  await page.waitForTimeout(700);
  await page.getByRole("button", { name: "Finish" }).press("Enter");
  await expect(status).toContainText(/^(\d+ ms|\d\.\d s) of sound, in en, written down in/);
  await expect(record).toBeEnabled();
  expect(errors).toEqual([]);
});

test("nothing is recorded for a model that does not hear", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}listen.html`);
  await expect(page.locator("#listen > .status")).toHaveText("Open a model that hears.");
  await expect(page.getByRole("button", { name: "openai/whisper-tiny 151 MB, 32 bits, many languages" })).toBeVisible();
  // Nobody can fetch a codec: the pages that need one are not among the links.
  const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
  await expect(links).toHaveText(["Chat", "Listen", "Memory", "Timeline", "Kernels", "Inspect", "Validate", "Bench", "Docs"]);
  await listen(page, server.address, "tiny/");
  await expect(page.locator("#listen > .status")).toHaveText("This model does not hear; open another one.");
  await expect(page.getByRole("button", { name: "Record" })).toBeDisabled();
});
