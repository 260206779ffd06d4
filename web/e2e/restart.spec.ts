// The real module in a Worker that is made to stop in the middle of a text: a new one goes on from the cache.
import type { Page } from "@playwright/test";
import type { OpenOptions } from "tokamak-web";
import { expect, test } from "./pages.ts";

/** The module traps in one of its next calls, or the Worker's script fails, when the page says so. */
const STOPPING = `
  let left = Infinity;
  const { promising } = WebAssembly;
  WebAssembly.promising = (run) => {
    const call = promising(run);
    return async (...values) => {
      left -= 1;
      if (left === 0) throw new WebAssembly.RuntimeError("unreachable");
      return call(...values);
    };
  };
  new BroadcastChannel("stop").onmessage = ({ data }) => {
    if (data === "fail") throw new Error("the Worker has no memory left");
    left = data;
  };
`;

/** In front of the Worker's script, whatever it is called on the page. */
const prepare = (page: Page) =>
  page.route(/\/worker[-\w]*\.js$/, async (route) => {
    const body = STOPPING + (await (await route.fetch()).text());
    await route.fulfill({ contentType: "text/javascript", body });
  });

test("a text whose engine stops in its middle goes on in another one, with the same tokens", async ({ context, server }) => {
  const page = await context.newPage();
  await prepare(page);
  await page.goto(`${server.address}tiny/config.json`);
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(`${request.url()} ${request.headers()["range"]}`));
  const found = await page.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const notices: string[] = [];
    const options: OpenOptions = { backend: "cpu", sequences: 2, onNotice: (text) => notices.push(text) };
    const engine = await open(`${address}talking/`, options);
    const ask = (temperature: number) => engine.generate("Hello", { maxTokens: 40, temperature, seed: 7 });
    const wanted = [await ask(0).result, await ask(1).result];
    const told: string[] = [];
    for (const event of ["stopped", "reopened"] as const) engine.on(event, (text) => told.push(`${event}: ${text}`));
    const rounds: { ids: number[]; pieces: number[] }[] = [];
    for (const how of [3, "fail"]) {
      const runs = [ask(0), ask(1)];
      const pieces: number[] = [];
      for await (const { ids } of runs[1]!) {
        if (pieces.length === 0) new BroadcastChannel("stop").postMessage(how);
        pieces.push(...ids);
      }
      for (const run of runs) rounds.push({ ids: (await run.result).ids, pieces });
    }
    const { status } = engine.store.getSnapshot();
    await engine.close();
    return { wanted: wanted.map(({ ids }) => ids), rounds, told, status, notices };
  }, server.address);
  const [greedy, drawn] = found.wanted;
  expect(greedy).toHaveLength(40);
  expect(found.rounds.map(({ ids }) => ids)).toEqual([greedy, drawn, greedy, drawn]);
  for (const { pieces } of found.rounds) expect(pieces).toEqual(drawn);
  expect(found.told).toHaveLength(4);
  expect(found.told[0]).toBe("stopped: The engine has stopped: unreachable.");
  expect(found.told[2]).toContain("the Worker has no memory left");
  expect(found.status).toBe("ready");
  expect(found.notices.filter((text) => !text.startsWith("Memory:"))).toEqual([]); // no file or lock was in the way
  const weights = fetched.filter((line) => line.includes("model.safetensors") && !line.endsWith("bytes=0-0"));
  expect(weights).toHaveLength(1); // the new Workers ask whether it is still the same, and have it from the cache
});

test("the chat page says that the engine has stopped, and finishes the answer", async ({ context, server }) => {
  const page = await context.newPage();
  await prepare(page);
  await page.goto(`${server.address}chat.html?cpu&model=${server.address}talking/`);
  await page.locator("aside .panel > summary").click();
  await page.getByLabel("Longest answer").fill("30");
  await page.getByLabel("Temperature").fill("0");
  await expect(page.locator("#model-status")).toContainText("on the processor"); // its Worker is there
  await page.evaluate(() => new BroadcastChannel("stop").postMessage(6));
  await page.locator("#message").fill("Hello");
  await page.keyboard.press("Enter");
  const status = page.locator("#model-status");
  await expect(status).toHaveText("The engine has stopped: unreachable. The model was opened again, and what was running has gone on.");
  await expect(page.locator(".compose .status")).toContainText("first after");
  await expect(page.getByRole("alert")).toHaveCount(0);
});
