// The pages as views of one document: the model stays open, with what its cache has, and so does what each page shows.
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";

const go = (page: Page, name: string) => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();

/** Errors of the console, and the Workers that a page starts. */
function watched(page: Page): { errors: string[]; workers: () => number; loads: () => number } {
  const errors: string[] = [];
  let workers = 0, loads = 0;
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("worker", () => (workers += 1));
  page.on("load", () => (loads += 1));
  return { errors, workers: () => workers, loads: () => loads };
}

async function ask(page: Page, text: string): Promise<void> {
  await page.locator("#message").fill(text);
  await page.keyboard.press("Enter");
  await expect(page.locator(".compose .status")).toContainText("prompt of");
  await expect(page.locator(".compose .status")).toContainText("12 tokens");
}

test("one model serves all pages, and the conversation goes on from its cache", async ({ context, server }) => {
  const page = await context.newPage();
  const { errors, workers, loads } = watched(page);
  await page.goto(`${server.address}chat.html?cpu&selfTest=0&model=${server.address}talking/`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("12");
  await page.getByLabel("Temperature").fill("0");
  await ask(page, "Hello there, how are you?");
  await expect(page.locator("#engine")).toHaveText(/^talkingon the processorready, [\d.,]+ tok\/s$/);
  await page.locator("#message").fill("A draft");
  const opened = workers();

  await go(page, "Timeline");
  await expect(page).toHaveTitle("Timeline – Tokamak");
  await expect(page).toHaveURL(/timeline\.html\?cpu&selfTest=0&model=/);
  await expect(page.locator("#model-status")).toContainText("talking:");
  await expect(page.locator("#profile")).toContainText("These are the dispatches without times.");
  await expect(page.getByRole("link", { name: "Timeline" })).toHaveAttribute("aria-current", "page");
  await go(page, "Kernels");
  await expect.poll(() => page.getByRole("listbox").getByRole("option").count()).toBeGreaterThan(90);
  await go(page, "Inspect");
  await page.getByRole("tab", { name: "Plan" }).click();
  await expect(page.locator("#panel-plan pre")).toContainText("attention");
  await go(page, "Bench");
  await expect(page.getByRole("button", { name: "Measure" })).toBeEnabled();
  await page.getByText("Beside another engine").click();
  await expect(page.getByRole("button", { name: "Load and compare" })).toHaveCount(0); // this document may not
  await expect(page.getByRole("button", { name: "Load this page anew" })).toBeVisible();
  expect(workers()).toBe(opened);

  // The history has each page as it was.
  await page.goBack();
  await expect(page.getByRole("tab", { name: "Plan" })).toHaveAttribute("aria-selected", "true");
  expect(new URL(page.url()).hash).toBe("#plan");
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Kernels", exact: true })).toBeVisible();
  await go(page, "Chat");
  await expect(page.locator("#message")).toHaveValue("A draft");
  await ask(page, "And then?");
  await expect(page.locator(".compose .status")).toContainText("of them kept from before");
  await expect(page.locator(".turn")).toHaveCount(4);
  await checkLooks(page, "views-chat");
  expect([workers(), loads()]).toEqual([opened, 1]);
  expect(errors).toEqual([]);
});

test("an answer goes on while another page is shown", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}chat.html?cpu-reference&selfTest=0&model=${server.address}enduring/`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("1500");
  await page.locator("#message").fill("Hello");
  await page.keyboard.press("Enter");
  await expect(page.locator(".turn .text").last()).not.toBeEmpty();
  await go(page, "Inspect");
  await expect(page.getByRole("heading", { name: "Inspect" })).toBeVisible();
  await expect(page.locator("#engine .state")).toHaveText(/^[\d.,]+ tok\/s$/);
  await page.keyboard.press("Escape"); // which ends an answer only where it is seen
  await expect(page.locator("#engine .state")).toHaveText(/^ready, /, { timeout: 60_000 });
  await go(page, "Chat");
  await expect(page.locator(".compose .status")).toContainText("prompt of");
  await expect(page.locator(".compose .status")).not.toContainText("Stopped.");
});

test("a page that looks at a model reads its headers, and the chat then opens it", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}inspect.html?cpu&selfTest=0&model=${server.address}talking/`);
  await expect(page.locator("#engine .state")).toHaveText("not loaded");
  await go(page, "Chat");
  await expect(page.locator("#engine .state")).toHaveText("ready");
  await expect(page.locator("#message")).toBeEnabled();
  expect(new URL(page.url()).searchParams.get("model")).toBe(`${server.address}talking/`);
  // A model that is looked at takes the place of the one that was open.
  await go(page, "Inspect");
  await page.locator("#opener .chip").click();
  await page.locator("#model").fill(`${server.address}tiny/`);
  await page.keyboard.press("Enter");
  await expect(page.locator("#engine")).toHaveText("tinyon the processornot loaded");
  expect(new URL(page.url()).searchParams.get("model")).toBe(`${server.address}tiny/`);
  await go(page, "Chat");
  await expect(page.locator("#engine")).toHaveText("tinyon the processorready");
  await expect(page.locator("#model-status")).toContainText("tiny:");
});

test("an answer leads to the timeline, a plan to its kernels, and those to the check", async ({ context, server }) => {
  const page = await context.newPage();
  const { errors, workers } = watched(page);
  const follow = async (name: string, file: string) => {
    await page.getByRole("link", { name, exact: true }).click();
    await expect(page).toHaveURL(new RegExp(`/${file}\\.html`));
  };
  await page.goto(`${server.address}chat.html?cpu&selfTest=0&model=${server.address}talking/`);
  await page.locator("#message").fill("Hello");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("link", { name: "Where the time goes" })).toBeVisible();
  const opened = workers();
  await follow("Where the time goes", "timeline");
  await expect(page.locator("#engine .place")).toHaveText("on the processor");
  expect(workers()).toBe(opened);
  await page.goto(`${server.address}inspect.html?selfTest=0&model=${server.address}talking/#plan`);
  await follow("See each with its text", "kernels");
  await page.getByLabel("Device").selectOption({ label: "no features: every WebGPU device" });
  await follow("Test the kernels against the processor", "validate");
  await expect(page.getByRole("button", { name: "Test every kernel" })).toBeVisible();
  expect(errors).toEqual([]);
});

test("the first page's story, the chat and what comes between have one engine", async ({ context, server }) => {
  const page = await context.newPage();
  const { errors, workers } = watched(page);
  await page.goto(`${server.address}?cpu&selfTest=0#p=Once+upon+a+time&s=7&n=24`);
  await expect(page.locator("#story-status")).toHaveText("24 tokens, seed 7.");
  const opened = workers();
  await page.getByRole("link", { name: "Chat with it" }).click();
  await expect(page.locator("#model-status")).toContainText("on the processor");
  expect(workers()).toBe(opened);
  await page.goBack();
  await expect(page.locator("#story-status")).toHaveText("24 tokens, seed 7.");
  await page.getByRole("button", { name: "Run" }).click();
  await expect(page.locator(".example .status")).toContainText("finish: length");
  expect(workers()).toBe(opened);
  expect(errors).toEqual([]);
});

test("a page of another version is loaded by itself", async ({ context, server }) => {
  const page = await context.newPage();
  const { loads } = watched(page);
  await page.goto(`${server.address}docs.html`);
  await page.goto(`${server.address}chat.html?cpu&selfTest=0&model=${server.address}talking/`);
  await expect(page.locator("#message")).toBeEnabled();
  const before = loads();
  server.changed.set("/kernels.html", "<!doctype html><title>Another version</title><main id=main>Other</main>");
  try {
    await go(page, "Kernels");
    await expect(page).toHaveTitle("Another version");
    expect(loads()).toBe(before + 1);
  } finally {
    server.changed.delete("/kernels.html");
  }
});
