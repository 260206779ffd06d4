// The files that a first visit fetches, what works without a network after it, and a new version of the site under an open tab.
import type { Page } from "@playwright/test";
import { expect, test } from "./pages.ts";

const controlled = (page: Page) =>
  page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller) return;
    await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  });
const keptNames = (page: Page, part: string) =>
  page.evaluate(async (wanted) => {
    const all = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
    return all.flat().map(({ url }) => url).filter((url) => url.includes(wanted));
  }, part);

test("a first visit fetches what it uses, once, and that works offline", async ({ shared, server }) => {
  const context = await shared.newContext({ baseURL: server.address });
  const page = await context.newPage();
  server.answers.length = 0;
  const bytesOf = (part: string) => server.answers.filter(({ path }) => path.includes(part)).reduce((sum, { bytes }) => sum + bytes, 0);
  await page.goto("docs.html");
  await controlled(page);
  // 48 MB in 198 requests before.
  expect(server.answers.length).toBeLessThan(60);
  expect(server.answers.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(1e6);
  expect([bytesOf(".wasm"), bytesOf("/models/"), bytesOf("/pictures/")]).toEqual([0, 0, 0]);

  await page.goto("chat.html?cpu&selfTest=0");
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await expect.poll(() => keptNames(page, ".wasm")).toHaveLength(1);
  expect(server.answers.filter(({ path }) => path.endsWith(".wasm"))).toHaveLength(1);
  expect(bytesOf("model.safetensors")).toBeLessThan(18.1e6 + 100e3);
  // The files that only the memory needs are kept after their first use.
  const remember = async () => {
    await page.goto("memory.html?cpu&selfTest=0");
    await expect(page.getByText("Add a note, or ask.")).toBeVisible();
  };
  await remember();
  await page.goto("docs.html");
  await page.getByRole("button", { name: "Keep all pages for offline use" }).click();
  await expect(page.getByRole("button", { name: "All pages are kept" })).toBeVisible();

  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Docs");
  await page.goto("docs/troubleshooting.html");
  await page.keyboard.press("/");
  await page.keyboard.type("tokenizer");
  await expect(page.locator("#results a").first()).toBeVisible();
  await page.goto("docs/nowhere.html");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no such page here");
  await page.goto("chat.html?cpu&selfTest=0");
  await page.getByRole("button", { name: "Tell me a story about a fox." }).click();
  await expect(page.locator(".compose .status")).toContainText("tokens/s");
  await remember();
  await context.close();
});

test("a new version of the site leaves an open tab as it is, until it is wanted", async ({ shared, server }) => {
  const context = await shared.newContext({ baseURL: server.address });
  const page = await context.newPage();
  await page.goto(`chat.html?cpu&model=${server.address}tiny/`);
  const status = page.locator("#model-status");
  await expect(status).toContainText("on the processor");
  await controlled(page);
  const script = await (await page.request.get("sw.js")).text();
  const [, version = ""] = /VERSION = .*([0-9a-f]{16})/.exec(script)!;
  // The scripts have other names in the new version, and are gone under the old ones.
  const gone = (await keptNames(page, "/assets/")).map((url) => new URL(url).pathname).filter((path) => path.endsWith(".js"));
  for (const path of gone) server.changed.set(path, null);
  server.changed.set("/sw.js", script.replace(version, "0123456789abcdef").replace(/const FILES = .*;/, 'const FILES = ["chat.html"];'));
  try {
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update());
    await expect(page.getByText("There is a new version of this site.")).toBeVisible();
    await page.locator(".chip").click();
    await page.getByLabel("Model", { exact: true }).fill(`${server.address}talking/`);
    await page.keyboard.press("Enter");
    await expect(status).toContainText("talking: Qwen3ForCausalLM");
    await expect(page.getByRole("alert")).toHaveCount(0);
    const reloaded = page.waitForEvent("load");
    await page.getByRole("button", { name: "Reload" }).click();
    await reloaded;
    expect(await page.evaluate(() => caches.keys())).toEqual([`tokamak-${version}`, "tokamak-0123456789abcdef"]);
  } finally {
    server.changed.clear();
    await context.close();
  }
});
