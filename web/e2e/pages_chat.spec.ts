// The chat page: a conversation by keyboard, kept over a reload.
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

/** A model that can be talked to, on the CPU; `isOpen` in another tab, whose engine takes nothing more of this device. */
async function talk(page: Page, server: string, backend = "cpu", isOpen = false, model = "talking"): Promise<void> {
  await page.goto(`${server}chat.html?${backend}&model=${server}${model}/`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
  if (!isOpen) await expect(page.locator("#model-budget")).toHaveText(/^It fits this device: .* (to download|in this browser), .* on the processor, \d+ tokens of context\.$/);
}

/** Longer than a phone is wide, and so is the conversation's name. */
const GREETING = "Hello there, how are you on this fine day?";

test("a conversation is held by keyboard, and is there after a reload", async ({ context, server }) => {
  const errors: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await talk(page, server.address);
  await page.locator("aside .panel > summary").press("Enter");
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
  const address = `${server.address}chat.html?cpu&model=${server.address}data/vision/qwen3_5_vl_images/`;
  await page.goto(address);
  const status = page.locator(".compose .status");
  const choose = async (name: string) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByLabel("Image …").focus();
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(join(DATA, "images", name));
  };
  const attached = page.getByRole("list", { name: "Images for the next message" });
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await page.locator("aside .panel > summary").press("Enter");
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
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await page.getByRole("button", { name: "Regenerate" }).press("Enter");
  await expect(status).toContainText("first after");
  expect(await page.locator(".turn.assistant .text").textContent()).toContain(said?.slice(0, 4));
  await page.getByRole("button", { name: "Edit" }).press("Enter");
  await expect(attached.getByRole("listitem")).toHaveCount(1);
  expect(errors).toEqual([]);
});

test("an answer that runs on can be stopped", async ({ context, server }) => {
  const page = await context.newPage();
  await talk(page, server.address, "cpu-reference", false, "enduring");
  await page.locator("#message").fill("Go on");
  await page.keyboard.press("Enter");
  await expect(page.locator(".compose .status")).toContainText("tokens/s");
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await expect(page.locator(".compose .status")).toContainText("Stopped.");
});

test("a model that is not there is an error with its name", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}chat.html?cpu&model=${server.address}nothing/`);
  await expect(page.getByRole("alert")).toContainText("nothing/");
  await expect(page.locator("#message")).toHaveAttribute("placeholder", "No model is open; choose one above.");
});

test("a second opening that fails or is stopped leaves the first model at work", async ({ context, server }) => {
  const page = await context.newPage();
  await talk(page, server.address);
  const status = page.locator("#model-status");
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("5");
  const answers = page.locator(".turn.assistant");
  const ask = async (count: number) => {
    await page.locator("#message").fill("Hello");
    await page.keyboard.press("Enter");
    await expect(answers).toHaveCount(count);
    await expect(page.locator(".compose .status")).toContainText("5 tokens");
  };
  const openOther = async (address: string) => {
    if (await page.locator(".sheet").isHidden()) await page.locator(".chip").press("Enter");
    await page.getByRole("textbox", { name: "Model", exact: true }).fill(address);
    await page.keyboard.press("Enter");
  };
  await page.locator(".chip").press("Enter");
  const cards = page.getByRole("list", { name: "Models to choose from" }).getByRole("listitem");
  await expect(cards.filter({ hasText: "Qwen/Qwen3-0.6B" })).toContainText("1.5 GB, 16 bits, many languages; too large for this device");
  await expect(cards.filter({ hasText: "/talking/" })).toContainText(/kept in this browser, \d+ kB/);
  await page.getByRole("button", { name: /^Delete http.*\/talking\/ from this browser$/ }).press("Enter");
  await expect(page.getByRole("alert")).toContainText("is open in a tab; close it there first.");
  await openOther(`${server.address}nothing/`);
  await expect(page.getByRole("alert")).toContainText("nothing/");
  await expect(status).toHaveText("talking stays open.");
  await ask(1);
  await page.route("**/tiny/config.json", () => undefined); // it never answers
  await openOther(`${server.address}tiny/`);
  await page.getByRole("button", { name: "Stop", exact: true }).first().click();
  await expect(status).toHaveText("Stopped. talking stays open.");
  await ask(2);
});

test("two tabs have one conversation, and leaving a page loses nothing of it", async ({ context, server }) => {
  const page = await context.newPage();
  await talk(page, server.address);
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("5");
  const send = async (tab: Page, text: string) => {
    await tab.locator("#message").fill(text);
    await tab.keyboard.press("Enter");
    await expect(tab.locator(".compose .status")).toContainText("5 tokens");
  };
  await send(page, "First, in tab A");
  const other = await context.newPage();
  await talk(other, server.address, "cpu", true);
  await send(page, "And again");
  await expect(other.locator(".turn")).toHaveCount(4);
  await send(other, "Second, in tab B");
  await expect(page.locator(".turn.user .text")).toHaveText(["First, in tab A", "And again", "Second, in tab B"]);
  await other.close();

  // Left in the middle of an answer, with a text that was not sent.
  await page.getByLabel("Longest answer").fill("30000");
  await page.goto(`${server.address}chat.html?cpu-reference&model=${server.address}talking/`);
  await expect(page.locator("#model-status")).toContainText("on the");
  await page.locator("#message").fill("Third");
  await page.keyboard.press("Enter");
  await expect(page.locator(".compose .status")).toContainText("tokens/s");
  await page.locator("#message").pressSequentially("Not sent");
  await page.goto(`${server.address}docs.html`);
  await talk(page, server.address);
  await expect(page.locator("#message")).toHaveValue("Not sent");
  await expect(page.locator(".turn.user .text").last()).toHaveText("Third");
  const cut = (await page.locator(".turn.assistant").last().locator(".text").textContent())!.trim();
  expect(cut.length).toBeGreaterThan(1);
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("9");
  await page.getByRole("button", { name: "Continue" }).press("Enter");
  await expect(page.locator(".compose .status")).toContainText("9 tokens");
  const whole = (await page.locator(".turn.assistant").last().locator(".text").textContent())!.trim();
  expect(whole.slice(0, cut.length - 2)).toBe(cut.slice(0, -2)); // the last character may have been half of one
  expect(whole.length).toBeGreaterThan(cut.length);
});

test("the page follows the answer, unless its reader scrolls up", async ({ context, server }) => {
  const page = await context.newPage();
  await page.setViewportSize({ width: 390, height: 780 });
  await talk(page, server.address, "cpu-reference", false, "enduring");
  const end = async () =>
    page.evaluate(() => document.querySelector(".turn.assistant .text")!.getBoundingClientRect().bottom - document.querySelector(".compose")!.getBoundingClientRect().top);
  await page.getByLabel("Longest answer").evaluate((field: HTMLInputElement) => (field.value = "30000"));
  await page.locator("#message").fill("Go on");
  await page.keyboard.press("Enter");
  for (const [width, height] of [[390, 780], [1280, 800]] as const) {
    await page.setViewportSize({ width, height });
    await expect.poll(() => page.evaluate(() => document.querySelector(".turn.assistant")!.getBoundingClientRect().height)).toBeGreaterThan(height);
    expect(await end()).toBeLessThan(80);
  }
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, -500);
  const button = page.getByRole("button", { name: "To the end" });
  await expect(button).toBeVisible();
  const before = await page.evaluate(() => scrollY);
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => scrollY)).toBe(before);
  await button.click();
  await expect(button).toBeHidden();
  expect(await end()).toBeLessThan(80);
  await page.keyboard.press("Escape");
  await expect(page.locator(".compose .status")).toContainText("Stopped.");
});

/** An answer with all that models write, as it is kept. */
const WRITTEN = "<think>\nHm.\n</think>\n\n## A heading\n\nSee https://example.org/ and\n\n\\[ \\sum_{i=1}^n i = \\frac{n(n+1)}{2} \\]\n\n```js\nlet a = 1;\n```\n";

test("an answer's reasoning is folded, its code copied, its links open elsewhere; what is deleted comes back", async ({ context, server }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript((content) => {
    const kept = { id: "a", changed: 1, turns: [{ role: "user", content: "Why?" }, { role: "assistant", content }] };
    if (sessionStorage.getItem("begun") === null) localStorage.setItem("tokamak.chat.a", JSON.stringify(kept));
    sessionStorage.setItem("begun", "");
  }, WRITTEN);
  const page = await context.newPage();
  await talk(page, server.address);
  const answer = page.locator(".turn.assistant");
  await expect(answer.locator(".reasoning")).not.toHaveAttribute("open");
  await expect(answer.locator(".text")).not.toContainText("Hm.");
  await answer.locator(".reasoning summary").click();
  await expect(answer.locator(".reasoning pre")).toHaveText("Hm.");
  const sizes = await answer.evaluate((turn) => ["h2:not(.who)", "p"].map((one) => parseFloat(getComputedStyle(turn.querySelector(`.text ${one}`)!).fontSize)));
  expect(sizes[0]!).toBeGreaterThan(sizes[1]!);
  await expect(answer.locator("math munderover, math mfrac")).toHaveCount(2);
  const link = answer.getByRole("link", { name: "https://example.org/" });
  await expect(link).toHaveAttribute("target", "_blank");
  await expect(link).toHaveAttribute("rel", "noopener noreferrer");
  await answer.locator(".code").getByRole("button", { name: "Copy" }).click();
  await expect(answer.locator(".code").getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("let a = 1;\n");
  await checkLooks(page, "chat-answer");
  await page.getByRole("button", { name: "Delete “Why?”" }).click();
  await expect(page.locator(".turn")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Why is the sky blue?" })).toBeVisible(); // no storyteller is open
  await checkLooks(page, "chat-empty");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.locator(".turn")).toHaveCount(2);
});
