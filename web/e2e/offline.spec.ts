// After one visit the site works without a network.
import { expect, test } from "./pages.ts";

test("pages, documentation and search work offline after one visit", async ({ shared, server }) => {
  const context = await shared.newContext({ baseURL: server.address });
  const page = await context.newPage();
  await page.goto("docs.html");
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller) return;
    await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  });
  // The files that only the memory needs are kept after their first use.
  const remember = async () => {
    await page.goto("memory.html?cpu&selfTest=0");
    await expect(page.getByText("Add a note, or ask.")).toBeVisible();
  };
  await remember();
  await page.goto("docs.html");
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Docs");
  await page.goto("docs/troubleshooting.html");
  await page.keyboard.press("/");
  await page.keyboard.type("tokenizer");
  await expect(page.locator("#results a").first()).toBeVisible();
  await page.goto("./");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Chat");
  // The model's files and the module are there as well, in parts too.
  const [type, status, size] = await page.evaluate(async () => {
    const kept = await (await caches.open((await caches.keys())[0]!)).keys();
    const wasm = await fetch(kept.find(({ url }) => /\/tokamak_web-[-\w]+\.wasm$/.test(url))!);
    const part = await fetch("./models/storyteller/model.safetensors", { headers: { Range: "bytes=10-19" } });
    return [wasm.headers.get("Content-Type"), part.status, (await part.arrayBuffer()).byteLength];
  });
  expect([type, status, size]).toEqual(["application/wasm", 206, 10]);
  await remember();
  await context.close();
});
