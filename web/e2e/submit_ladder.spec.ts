// A tab that ends in the middle of a start, and the next one: with a Worker that stands in, since only the page counts.
import type { Page } from "@playwright/test";
import { expect, test } from "./pages.ts";

/** Answers a start with its `submitDispatches`, but for models that never answer. */
const WORKER = `
  onmessage = ({ data: { id, call } }) => {
    if (call.source.includes("endless")) return;
    postMessage({ kind: "result", id, result: { model: { name: String(call.options.submitDispatches ?? 0) } } });
  };
`;

test("a start that takes its tab with it is noticed by the next one", async ({ context, server }) => {
  const tab = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.route("**/stand_in.js", (route) => route.fulfill({ contentType: "text/javascript", body: WORKER }));
    await page.goto(`${server.address}tiny/config.json`);
    return page;
  };
  const start = (page: Page, source: string) =>
    page.evaluate(async ([address, model]) => {
      const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
      const notices: string[] = [];
      const opened = open(`${address}${model}/`, { worker: "/stand_in.js", onNotice: (text) => notices.push(text) });
      if (model === "endless") return null;
      return { dispatches: (await opened).model.name, notices };
    }, [server.address, source] as const);
  const crashed = async () => {
    const page = await tab();
    await start(page, "endless");
    await expect.poll(() => page.evaluate(() => localStorage["tokamak.submit"])).toContain('"isTrying":true');
    return page;
  };

  // One that is closed by its visitor changes nothing.
  await (await crashed()).close({ runBeforeUnload: true });
  expect(await start(await tab(), "model")).toEqual({ dispatches: "0", notices: [] });

  const page = await crashed();
  const ended = page.waitForEvent("crash");
  const session = await context.newCDPSession(page);
  session.send("Page.crash").catch(() => undefined);
  await ended;
  const notices = ["The last start ended with its tab. The GPU gets its work in parts of 64 dispatches from now on."];
  expect(await start(await tab(), "model")).toEqual({ dispatches: "64", notices });
  expect(await start(await tab(), "model")).toEqual({ dispatches: "64", notices: [] });
});
