// The frame of the pages: nothing moves while they come to life, and they work where a browser keeps nothing.
import { checkLooks, expect, test } from "./pages.ts";

test("nothing moves while the pages come to life on a phone", async ({ context, server }) => {
  await context.addInitScript(() => {
    const own = globalThis as unknown as { shift: number };
    own.shift = 0;
    const add = (list: PerformanceObserverEntryList) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) own.shift += entry.value;
    };
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
  });
  const page = await context.newPage();
  await page.setViewportSize({ width: 390, height: 780 });
  const shifts: Record<string, number> = {};
  for (const name of ["index", "chat", "timeline", "bench", "listen", "docs"]) {
    await page.goto(`${server.address}${name}.html?cpu&selfTest=0&model=${server.address}${name === "listen" ? "hearing" : "talking"}/`);
    if (name === "index") await expect(page.locator("#headline")).toContainText("tokens a second");
    else if (name !== "docs") await expect(page.locator("#model-status")).toContainText("on the processor");
    shifts[name] = await page.evaluate(() => (globalThis as unknown as { shift: number }).shift);
  }
  for (const [name, shift] of Object.entries(shifts)) expect(shift, name).toBeLessThanOrEqual(0.1);
});

test("a link to any page has a card where it is pasted", async ({ request, server }) => {
  const titles: string[] = [];
  for (const name of ["index", "chat", "listen", "memory", "timeline", "kernels", "inspect", "validate", "bench", "docs", "docs/browser"]) {
    const html = await (await request.get(`${server.address}${name}.html`)).text();
    const [, title = ""] = /property="og:title" content="([^"]+)"/.exec(html) ?? [];
    expect(html, name).toMatch(/property="og:description" content="[^"]{20,}"/);
    titles.push(title);
    if (name.startsWith("docs")) continue; // the documents have pictures of their own
    expect(html, name).toContain('name="twitter:card" content="summary_large_image"');
    expect(html, name).toMatch(/property="og:image" content="(https?:\/\/[^"]+|\.)\/card\.png"/);
  }
  for (const [file, width, height] of [["card.png", 1200, 630], ["touch-icon.png", 180, 180]] as const) {
    const png = await (await request.get(`${server.address}${file}`)).body();
    expect([png.readUInt32BE(16), png.readUInt32BE(20)], file).toEqual([width, height]);
    expect(png.length, file).toBeLessThan(100_000);
  }
  expect(titles).not.toContain("");
  expect(new Set(titles).size, titles.join("; ")).toBe(titles.length);
});

test("a browser that keeps nothing shows the page, changes colours and answers", async ({ context, server }) => {
  const errors: string[] = [];
  await context.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(globalThis, name, { get: () => { throw new DOMException("denied", "SecurityError"); } });
    }
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${server.address}chat.html?cpu&model=${server.address}talking/`);
  await page.getByRole("button", { name: "Light or dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-scheme", "dark");
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("5");
  await page.locator("#message").fill("Hello"); // before the model is open
  await page.keyboard.press("Enter");
  await expect(page.locator(".compose .status")).toContainText("5 tokens");
  await expect(page.getByRole("alert")).toHaveText("This browser keeps no more conversations; this one ends with the tab.");
  expect(errors).toEqual([]);
});

test("the first page writes a story, and its address replays it", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}?cpu&selfTest=0#p=Once+upon+a+time&s=7&n=24`);
  const status = page.locator("#story-status");
  await expect(status).toHaveText("24 tokens, seed 7.");
  await expect(page.locator("#headline")).toHaveText(/^[\d.,]+ tokens a second on the processor/);
  const story = await page.locator("#story-text").textContent();
  expect(story).toMatch(/^Once upon a time\W*\w+/);
  await page.reload();
  await expect(status).toHaveText("24 tokens, seed 7. The same tokens as in the link, bit for bit.");
  expect(await page.locator("#story-text").textContent()).toBe(story);
  await checkLooks(page, "landing");
  const address = page.url();
  expect(new URLSearchParams(new URL(address).hash.slice(1)).get("m")).toBe("storyteller");
  await page.goto(address.replace(/k=\w+/, "k=abc"));
  await expect(status).toContainText("Other tokens than in the link. Model and device are the same.");
  await page.goto(address.replace(/d=[^&]+/, "d=Elsewhere").replace(/k=\w+/, "k=abc"));
  await expect(status).toContainText("It was written on Elsewhere, and this is the processor");
  await page.goto(address.replace(/([#&])t=[^&]+&/, "$1").replace("s=7", "s=7&t=0"));
  await expect(status).toContainText("Other tokens than in the link. Model and device are the same.");
});

test("without a GPU a page is on the processor and says why, or one click away from it", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}chat.html?model=${server.address}tiny/`); // a software driver, which is no GPU
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await page.getByText("This browser has no GPU for the model, so it runs on the processor").press("Enter");
  await expect(page.getByRole("link", { name: "Try WebGPU all the same" })).toHaveAttribute("href", /chat\.html\?model=.*&webgpu$/);
  await expect(page.getByRole("link", { name: "how WebGPU is switched on" })).toHaveAttribute("href", /docs\/troubleshooting\.html#a-browser-without-webgpu$/);
  await page.goto(`${server.address}kernels.html?model=${server.address}tiny/`);
  await expect(page.getByLabel("Device")).toHaveValue("4");
  await page.getByRole("listbox").focus();
  await page.keyboard.press("End");
  await expect(page.locator("pre")).toContainText("@compute");
  // A kernel has an address, which can be sent.
  const name = (await page.locator(".detail-of-kernel h2").textContent())!;
  expect(new URL(page.url()).hash).toBe(`#${name}`);
  await page.reload();
  await expect(page.locator(".detail-of-kernel h2")).toHaveText(name);

  await page.route(/\/worker[-\w]*\.js$/, async (route) => {
    const body = `Object.defineProperty(navigator, "gpu", { value: undefined });${await (await route.fetch()).text()}`;
    await route.fulfill({ contentType: "text/javascript", body });
  });
  await page.goto(`${server.address}chat.html?webgpu&model=${server.address}tiny/`);
  await page.getByRole("link", { name: "Run it on the processor" }).click();
  await expect(page.locator("#model-status")).toContainText("on the processor");
});
