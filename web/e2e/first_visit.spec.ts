// A first visit by numbers: the bytes and requests that a page takes until it has done what it is for, how far things move meanwhile, and
// when its first text is there. Bytes and shifts are exact; times depend on what else the machine does, and are noted.
import { expect, test } from "./pages.ts";

/** A page; what shows that it is done; the most bytes and requests, the built-in model of 18.1 MB and the module with them. */
const PAGES = [
  { file: "index.html?selfTest=0#p=Once+upon+a+time&s=7&n=24", done: "#story-status", text: "24 tokens", bytes: 22.2e6, requests: 40 },
  { file: "chat.html?selfTest=0", done: "#engine .state", text: "ready", bytes: 22.2e6, requests: 40 },
  { file: "docs.html", done: "h1", text: "Docs", bytes: 0.15e6, requests: 15 },
];

test("a first visit takes few bytes, nothing moves, and its first text comes soon", async ({ shared, server }, info) => {
  for (const width of [1280, 390]) {
    for (const { file, done, text, bytes, requests } of PAGES) {
      const context = await shared.newContext({ viewport: { width, height: 800 }, serviceWorkers: "block" });
      await context.addInitScript(() => {
        const own = globalThis as unknown as { shift: number };
        own.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) own.shift += entry.value;
        }).observe({ type: "layout-shift", buffered: true });
      });
      const page = await context.newPage();
      server.answers.length = 0;
      await page.goto(`${server.address}${file}`);
      const first = file.startsWith("index")
        ? await page.waitForFunction(() => (document.getElementById("story-text")?.textContent ?? "").length > "Once upon a time".length && performance.now()).then((at) => at.jsonValue())
        : 0;
      await expect(page.locator(done).first()).toContainText(text);
      const found = await page.evaluate(() => ({
        shift: (globalThis as unknown as { shift: number }).shift,
        painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
        loaded: performance.timing.loadEventEnd - performance.timing.navigationStart,
      }));
      const name = `${file.split(/[?#]/)[0]!}, ${width} px`;
      const sent = server.answers.reduce((sum, one) => sum + one.bytes, 0);
      const figures = `${name}: ${(sent / 1e6).toFixed(2)} MB in ${server.answers.length} requests, shift ${found.shift.toFixed(3)}, painted ${Math.round(found.painted)} ms, loaded ${found.loaded} ms${first ? `, first text of the model ${Math.round(Number(first))} ms` : ""}`;
      console.log(figures);
      info.annotations.push({ type: "first visit", description: figures });
      expect(sent, name).toBeLessThan(bytes);
      expect(server.answers.length, name).toBeLessThan(requests);
      expect(found.shift, name).toBeLessThanOrEqual(0.1);
      await context.close();
    }
  }
});
