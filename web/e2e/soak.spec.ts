// A model is opened, talked to and closed again and again: nothing of it stays in the page.
import type { Page } from "@playwright/test";
import { expect, test } from "./pages.ts";

const TIMES = 50;
/** Bytes that a page may have more after them: compiled code and the like. */
const MORE = 1e6;

test("fifty engines leave the page as they found it", async ({ context, server }) => {
  test.setTimeout(300_000);
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const session = await context.newCDPSession(page);
  const heap = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize, backingStorageSize = 0 } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize?: number };
    return usedSize + backingStorageSize;
  };
  const engines = (count: number) => soak(page, server.address, count);
  const first = await engines(5);
  const before = await heap();
  const rest = await engines(TIMES - 5);
  expect(new Set([...first, ...rest])).toEqual(new Set([first[0]]));
  await expect.poll(() => page.workers().length).toBe(0); // ended, and the test has heard of it
  const grown = (await heap()) - before;
  console.log(`${TIMES} engines: ${(grown / 1e3).toFixed(0)} kB more in the page`);
  expect(grown).toBeLessThan(MORE);
});

/** The text of each engine; every other one is closed in the middle of it. */
function soak(page: Page, address: string, count: number): Promise<string[]> {
  return page.evaluate(async ([from, times]) => {
    const { open } = (await import(`${from}package/index.js`)) as typeof import("tokamak-web");
    const texts: string[] = [];
    for (let i = 0; i < times; ++i) {
      const engine = await open(`${from}talking/`, { backend: "cpu" });
      const run = engine.generate("Hello", { maxTokens: 8, temperature: 0 });
      if (i % 2 === 0) texts.push((await run.result).text);
      else run.result.catch(() => undefined);
      await engine.close();
    }
    return texts;
  }, [address, count] as const);
}
