// The chat page: a conversation by keyboard, kept over a reload.
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";

/** A model that can be talked to, on the CPU. */
async function talk(page: Page, server: string): Promise<void> {
  await page.goto(`${server}index.html?cpu&model=${server}talking/`);
  await expect(page.locator("#message")).toBeEnabled();
  await expect(page.locator("#model-budget")).toHaveText(/^It fits this device: .* (to download|in this browser), .* on the GPU, \d+ tokens of context\.$/);
}

/** Longer than a phone is wide, and so is the conversation's name. */
const GREETING = "Hello there, how are you on this fine day?";

test("a conversation is held by keyboard, and is there after a reload", async ({ context, server }) => {
  const errors: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await talk(page, server.address);
  await page.locator("summary").press("Enter");
  await page.getByLabel("Longest answer").fill("12");
  await page.getByLabel("Temperature").fill("0");
  await page.keyboard.press("Tab");
  await page.locator("#message").fill(GREETING);
  await page.keyboard.press("Enter");
  const turns = page.locator(".turn");
  await expect(page.locator(".compose .status")).toContainText("12 tokens");
  await expect(turns).toHaveCount(2);
  const first = await turns.nth(1).locator(".text").textContent();

  await page.locator("#message").fill("And then?");
  await page.keyboard.press("Enter");
  await expect(turns).toHaveCount(4);
  await expect(page.locator(".compose .status")).toContainText("of them kept from before");
  await checkLooks(page, "chat");

  await turns.nth(3).getByRole("button", { name: "Regenerate" }).press("Enter");
  await expect(page.locator(".compose .status")).toContainText("first after");
  await talk(page, server.address);
  await expect(turns).toHaveCount(4);
  expect(await turns.nth(1).locator(".text").textContent()).toBe(first);
  await turns.nth(0).getByRole("button", { name: "Edit" }).press("Enter");
  await expect(turns).toHaveCount(0);
  await expect(page.locator("#message")).toHaveValue(GREETING);
  await page.getByRole("button", { name: /^Delete “Hello/ }).press("Enter");
  await expect(page.locator(".conversations li")).toHaveCount(0);
  expect(errors).toEqual([]);
});

test("an answer that runs on can be stopped", async ({ context, server }) => {
  const page = await context.newPage();
  await talk(page, server.address);
  await page.locator("#message").fill("Go on");
  await page.keyboard.press("Enter");
  await expect(page.locator(".compose .status")).toContainText("tokens/s");
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await expect(page.locator(".compose .status")).toContainText("Stopped.");
});

test("a model that is not there is an error with its name", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}index.html?cpu&model=${server.address}nothing/`);
  await expect(page.getByRole("alert")).toContainText("nothing/");
  await expect(page.locator("#message")).toBeDisabled();
});
