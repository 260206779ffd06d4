// The chat page: a conversation by keyboard, kept over a reload.
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

/** A model that can be talked to, on the CPU. */
async function talk(page: Page, server: string, backend = "cpu"): Promise<void> {
  await page.goto(`${server}index.html?${backend}&model=${server}talking/`);
  await expect(page.locator("#message")).toBeEnabled();
  await expect(page.locator("#model-budget")).toHaveText(/^It fits this device: .* (to download|in this browser), .* on the processor, \d+ tokens of context\.$/);
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

test("an image goes with a message to a model that sees, and is there after a reload", async ({ context, server }) => {
  const errors: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  const address = `${server.address}index.html?cpu&model=${server.address}data/vision/qwen3_5_vl_images/`;
  await page.goto(address);
  const status = page.locator(".compose .status");
  const choose = async (name: string) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByLabel("Image …").focus();
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(join(DATA, "images", name));
  };
  const attached = page.getByRole("list", { name: "Images for the next message" });
  await expect(page.locator("#message")).toBeEnabled();
  await page.locator("summary").press("Enter");
  await page.getByLabel("Longest answer").fill("8");
  await page.getByLabel("Temperature").fill("0");
  await choose("shapes.png");
  await choose("wide.png");
  await expect(attached.getByRole("listitem")).toHaveCount(2);
  await page.getByRole("button", { name: "Leave out shapes.png" }).press("Enter");
  await expect(attached.getByRole("listitem")).toHaveCount(1);
  await page.locator("#message").fill("What is it?");
  await checkLooks(page, "chat-image");
  await page.locator("#message").press("Enter");
  await expect(status).toContainText("8 tokens");
  // The placeholder of the image is as many tokens as it has rows.
  await expect(status).toContainText("prompt of 39 tokens");
  await expect(attached).toBeHidden();
  const image = page.locator(".turn.user img");
  await expect(image).toHaveJSProperty("naturalWidth", 300);
  const said = await page.locator(".turn.assistant .text").textContent();

  await page.goto(address);
  await expect(image).toHaveJSProperty("naturalWidth", 300);
  await expect(page.locator("#message")).toBeEnabled();
  await page.getByRole("button", { name: "Regenerate" }).press("Enter");
  await expect(status).toContainText("first after");
  expect(await page.locator(".turn.assistant .text").textContent()).toContain(said?.slice(0, 4));
  await page.getByRole("button", { name: "Edit" }).press("Enter");
  await expect(attached.getByRole("listitem")).toHaveCount(1);
  expect(errors).toEqual([]);
});

test("an answer that runs on can be stopped", async ({ context, server }) => {
  const page = await context.newPage();
  await talk(page, server.address, "cpu-reference"); // slow enough to be stopped
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
