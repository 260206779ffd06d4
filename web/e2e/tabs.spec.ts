// One engine for the tabs of the site: the second one opens at once, both are answered at the same time, and whoever has the Worker may be
// closed, crash or be suspended.
import type { BrowserContext, Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";

/** A tab that has this model, whose address is followed by `more`. */
async function tabOf(context: BrowserContext, server: string, more = "cpu"): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${server}chat.html?${more}&selfTest=0&model=${server}enduring/`);
  await expect(page.locator("#message")).toBeEnabled();
  await expect(page.locator("#model-status")).toContainText("on the processor");
  return page;
}

async function ask(page: Page, text: string, tokens: number): Promise<void> {
  for (const [label, value] of [["Longest answer", String(tokens)], ["Temperature", "0"]] as const) {
    await page.getByLabel(label).evaluate((field: HTMLInputElement, wanted) => (field.value = wanted), value);
  }
  await page.locator("#message").fill(text);
  await page.keyboard.press("Enter");
}

const workers = (context: BrowserContext) => context.pages().reduce((sum, page) => sum + page.workers().length, 0);
const answer = (page: Page) => page.locator(".turn.assistant .text").last();
const tabs = (page: Page) => page.locator("#engine .tabs");

test("a second tab takes the model of the first, and both are answered at the same time", async ({ context, server }) => {
  const first = await tabOf(context, server.address, "cpu-reference"); // slow enough to be seen
  await expect(tabs(first)).toHaveCount(0);
  server.answers.length = 0;
  const second = await tabOf(context, server.address, "cpu-reference");
  expect(server.answers.filter(({ path }) => /\.wasm$|\/enduring\//.test(path))).toEqual([]); // nothing is fetched for a model that is there
  expect(workers(context)).toBe(1);
  for (const page of [first, second]) await expect(tabs(page)).toHaveText("2 tabs");

  await second.getByRole("button", { name: "New conversation" }).click();
  await ask(first, "Hello", 30_000);
  await ask(second, "Go on", 30_000);
  for (const page of [first, second]) await expect(page.locator("#engine .state")).toHaveText(/^[\d.,]+ tok\/s$/);
  const lengths = () => Promise.all([first, second].map(async (page) => (await answer(page).textContent())!.length));
  const before = await lengths();
  await expect.poll(async () => (await lengths()).every((length, at) => length > before[at]!)).toBe(true);
  await second.keyboard.press("Escape");
  await expect(second.locator(".compose .status")).toContainText("Stopped.");
  await expect(first.locator("#engine")).toHaveAttribute("data-busy", "");
  await first.keyboard.press("Escape");
  await checkLooks(second, "tabs");

  // The tab that has the Worker takes another model: the other one goes on with it.
  await first.locator(".chip").press("Enter");
  await first.getByRole("textbox", { name: "Model", exact: true }).fill(`${server.address}tiny/`);
  await first.keyboard.press("Enter");
  await expect(first.locator("#engine")).toHaveText(/^tinyon the processorready/);
  await expect(tabs(second)).toHaveCount(0);
  expect(workers(context)).toBe(2);
  await ask(second, "And then?", 5);
  await expect(second.locator(".compose .status")).toContainText("5 tokens");
  await second.close();
  await expect.poll(() => workers(context)).toBe(1);
});

for (const way of ["is closed", "crashes"] as const) {
  test(`the tab that has the model ${way}: the next one opens it again, and the answer goes on`, async ({ context, server }) => {
    const first = await tabOf(context, server.address, "cpu-reference");
    const second = await tabOf(context, server.address, "cpu-reference");
    const third = await tabOf(context, server.address, "cpu-reference");
    await ask(second, "Hello", 120);
    await expect.poll(async () => (await answer(second).textContent())!.length).toBeGreaterThan(20);
    const before = (await answer(second).textContent())!.trim();
    if (way === "is closed") await first.close();
    else void first.goto("chrome://crash").catch(() => undefined);
    await expect(second.locator("#model-status")).toContainText(`The tab that had the model ${way === "crashes" ? "has ended" : "was closed"}.`);
    await expect(second.locator(".compose .status")).toContainText("120 tokens");
    const whole = (await answer(second).textContent())!;
    expect(whole.startsWith(before.slice(0, -2))).toBe(true); // the last character may have been half of one
    await expect(second.locator("#model-status")).toContainText("what was running has gone on");
    for (const page of [second, third]) await expect(tabs(page)).toHaveText("2 tabs");
    expect(second.workers().length + third.workers().length).toBe(1);
    await ask(third, "And then?", 5);
    await expect(third.locator(".compose .status")).toContainText("5 tokens");
  });
}

test("a tab that does not answer loses the model to the one that asks", async ({ context, server }) => {
  const first = await tabOf(context, server.address);
  const second = await tabOf(context, server.address);
  const blocked = first.evaluate(() => {
    const end = Date.now() + 16_000;
    while (Date.now() < end);
  });
  await ask(second, "Hello", 5);
  await expect(second.locator(".compose .status")).toContainText("5 tokens");
  await blocked;
  await ask(first, "And then?", 5);
  await expect(first.locator(".compose .status")).toContainText("5 tokens");
  await expect(tabs(first)).toHaveText("2 tabs");
  expect([first.workers().length, second.workers().length]).toEqual([0, 1]);
});

test("a tab of another version of the site, or with other options, has an engine of its own", async ({ context, server }) => {
  await tabOf(context, server.address);
  const other = await tabOf(context, server.address, "cpu&context=64");
  expect(workers(context)).toBe(2);
  await other.close();
  const next = await context.newPage();
  await next.goto(`${server.address}next/chat.html?cpu&selfTest=0&model=${server.address}enduring/`);
  await expect(next.locator("#model-status")).toContainText("on the processor");
  expect(workers(context)).toBe(2);
  await expect(tabs(next)).toHaveCount(0);
});

test("a browser without Web Locks has an engine for each tab", async ({ context, server }) => {
  await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }));
  const first = await tabOf(context, server.address);
  await tabOf(context, server.address);
  expect(workers(context)).toBe(2);
  await ask(first, "Hello", 5);
  await expect(first.locator(".compose .status")).toContainText("5 tokens");
});

test("the package: images and OpenAI's calls reach the Worker of another tab", async ({ context, server }) => {
  const answers = async () => {
    const page = await context.newPage();
    await page.goto(`${server.address}tiny/config.json`);
    return page.evaluate(async (address) => {
      const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
      const engine = await open(`${address}data/vision/qwen3_5_vl_images/`, { backend: "cpu", share: true, selfTest: false });
      const file = await (await fetch(`${address}data/images/shapes.png`)).blob();
      const ids: number[][] = [];
      for (const image of [file, await createImageBitmap(file)]) {
        const run = engine.chat([{ role: "user", content: [{ type: "image", image }, { type: "text", text: "What is it?" }] }], { maxTokens: 8, temperature: 0 });
        ids.push((await run.result).ids);
      }
      const { status } = await engine.exchange({ method: "POST", path: "/v1/completions", body: JSON.stringify({ prompt: "Hi", max_tokens: 4 }) });
      return { tabs: engine.store.getSnapshot().tabs, ids, status };
    }, server.address);
  };
  const first = await answers();
  expect(await answers()).toEqual({ ...first, tabs: 2 });
  expect(first).toMatchObject({ tabs: 1, status: 200, ids: [first.ids[1], first.ids[0]] });
});
