// src/models in a real Chromium: its network, its files, its locks and its quota.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, expect, type Page, test } from "@playwright/test";

import { launch } from "./browser.ts";
import { heapOfWorker } from "./heap.ts";
import { serve, type Served } from "./serve.ts";

/** The size of the file that shows how fast and how large everything is. */
const LARGE_MIB = Number(process.env["MODEL_MIB"] ?? 128);
const MOST_HEAP = 64e6; // bytes

type Answer = { result?: unknown; error?: { code: string; message: string; details?: Record<string, number> } };
declare global {
  function ask(command: string, values?: object): Promise<Answer>;
}

let server: Served, folder: string, context: BrowserContext;

test.beforeAll(async () => {
  server = await serve();
  folder = mkdtempSync(join(tmpdir(), "tokamak-"));
  context = await launch(folder);
});
test.afterAll(async () => {
  await context?.close();
  server?.close();
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

async function tab(): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url);
  return page;
}
const asked = (page: Page, command: string, values: object = {}) =>
  page.evaluate(([name, given]) => ask(name, given), [command, values] as const);
async function ok(page: Page, command: string, values: object = {}): Promise<unknown> {
  const { result, error } = await asked(page, command, values);
  expect(error).toBeUndefined();
  return result;
}
const loaded = async (page: Page) => (await ok(page, "loaded")) as number;
const weightsOf = (name: string) => server.requests.filter((one) => one.startsWith(`/${name}/resolve/`) && one.includes("safetensors"));
const isRight = (page: Page) => ok(page, "read", { step: 1 << 20 });

/** A tab with nothing stored. */
async function fresh(): Promise<Page> {
  const page = await tab();
  await ok(page, "clear");
  server.requests.length = 0;
  return page;
}

test("a download whose connection is cut goes on where it was", async () => {
  const page = await fresh();
  await ok(page, "open", { source: "cut/20" });
  expect(await isRight(page)).toBe(true);
  await ok(page, "complete");
  const ranges = weightsOf("cut/20");
  expect(ranges).toHaveLength(4);
  const begins = ranges.map((one) => Number(/bytes=(\d+)/.exec(one)![1]));
  expect(begins.some((begin) => begin > 0 && begin < 16 << 20)).toBe(true);
  await page.close();
});

test("a tab that is closed in the middle loses little of what it had", async () => {
  const first = await fresh();
  await ok(first, "open", { source: "slow/40" });
  // Longer than a second at the server's speed: that often the state is saved.
  await expect.poll(() => loaded(first), { intervals: [100] }).toBeGreaterThan(0.6 * (40 << 20));
  await first.close();
  const before = weightsOf("slow/40").length;
  const page = await tab();
  await ok(page, "open", { source: "slow/40" });
  expect(await isRight(page)).toBe(true);
  await ok(page, "complete");
  const asked = weightsOf("slow/40").slice(before).map((one) => /bytes=(\d+)-(\d+)/.exec(one)!.slice(1).map(Number));
  const bytes = asked.reduce((sum, [from, to]) => sum + to! - from! + 1, 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(0.9 * (40 << 20));
  await page.close();
});

test("a wrong hash is an error, and nothing of the file stays", async () => {
  const page = await fresh();
  await ok(page, "open", { source: "wrong/3" });
  expect((await asked(page, "complete")).error).toMatchObject({
    code: "hash", message: expect.stringContaining("model.safetensors arrived with the SHA-256") });
  expect((await asked(page, "read", { step: 1 << 20 })).error).toMatchObject({ code: "hash" });
  await ok(page, "close");
  expect(await ok(page, "blobs")).toHaveLength(1);
  await page.close();
});

test("servers without ranges, busy ones, and web pages in place of files", async () => {
  const page = await fresh();
  for (const mode of ["whole", "busy"]) {
    await ok(page, "open", { source: `${mode}/20` });
    expect(await isRight(page)).toBe(true);
    await ok(page, "complete");
    await ok(page, "close");
    await ok(page, "clear");
  }
  await ok(page, "open", { source: "html/20" });
  expect((await asked(page, "complete")).error).toMatchObject({
    code: "network", message: expect.stringContaining("a web page (HTML)") });
  await page.close();
});

test("a model that is whole opens without the network", async () => {
  const page = await fresh();
  for (const source of ["plain/3", "/plain/2.gguf"]) {
    await ok(page, "open", { source });
    await ok(page, "complete");
    await ok(page, "close");
  }
  await context.setOffline(true);
  server.requests.length = 0;
  for (const source of ["plain/3", "/plain/2.gguf"]) {
    await ok(page, "open", { source });
    expect(await isRight(page)).toBe(true);
    await ok(page, "close");
  }
  expect(server.requests).toEqual([]);
  expect((await asked(page, "open", { source: "plain/4" })).error).toMatchObject({
    code: "network", message: expect.stringContaining("offline") });
  await context.setOffline(false);
  expect(await ok(page, "damage")).toBe(3);
  await ok(page, "open", { source: "plain/3" });
  expect(await isRight(page)).toBe(true);
  await page.close();
});

test("two tabs bring a model once", async () => {
  const first = await fresh(), second = await tab();
  await ok(first, "open", { source: "slow/20" });
  const opened = ok(second, "open", { source: "slow/20" });
  expect(await isRight(first)).toBe(true);
  await opened;
  expect(await isRight(second)).toBe(true);
  expect(weightsOf("slow/20")).toHaveLength(2);
  expect(await ok(second, "told")).toMatchObject({ notices: [expect.stringContaining("Another tab")] });
  await ok(first, "clear");
  expect(await ok(first, "list")).toMatchObject([{ complete: true }]);
  await first.close();
  await second.close();
});

test("a full storage is told before the download, and in its middle keeps what is there", async () => {
  const page = await fresh();
  const session = await context.newCDPSession(page);
  const limit = (quotaSize?: number) =>
    session.send("Storage.overrideQuotaForOrigin", { origin: server.url, ...(quotaSize && { quotaSize }) });
  await limit(20 << 20);
  const { error } = await asked(page, "open", { source: "plain/40" });
  expect(error).toMatchObject({ code: "quota", message: expect.stringContaining('cache: "none"') });
  expect(error!.details!["needed"]).toBeGreaterThan(40 << 20);
  expect(weightsOf("plain/40")).toEqual([]);
  await limit();
  await limit(60 << 20);
  await ok(page, "open", { source: "plain/80", isBlind: true });
  expect((await asked(page, "complete")).error).toMatchObject({ code: "quota" });
  await ok(page, "close");
  await limit();
  await ok(page, "open", { source: "slow/80" });
  expect(await loaded(page)).toBeGreaterThan(16 << 20);
  await ok(page, "cancel");
  expect((await asked(page, "complete")).error).toMatchObject({ code: "cancelled" });
  await page.close();
});

test("a model goes to make room for another one only where it may", async () => {
  const page = await fresh();
  const session = await context.newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", { origin: server.url, quotaSize: 90 << 20 });
  const stored = async () => ((await ok(page, "list")) as { name: string; complete: boolean }[]).map(({ name, complete }) => [name, complete]);
  const [old, wanted] = ["plain/40", "plain/60"].map((name) => `${server.url}/${name}`);
  await ok(page, "open", { source: "plain/40" });
  await ok(page, "complete");
  await ok(page, "close");
  server.requests.length = 0;
  expect((await asked(page, "open", { source: "plain/60" })).error).toMatchObject({ code: "quota" });
  expect(await ok(page, "told")).toMatchObject({ asked: [old] });
  expect(weightsOf("plain/60")).toEqual([]);
  expect(await stored()).toEqual([[old, true]]);
  await ok(page, "open", { source: "plain/60", evicts: true });
  await ok(page, "complete");
  expect(await stored()).toEqual([[wanted, true]]);
  await ok(page, "close");
  await session.send("Storage.overrideQuotaForOrigin", { origin: server.url });
  await page.close();
});

test("a large file passes through little memory, and comes fast from the browser's files", async () => {
  const page = await fresh();
  const heap = await heapOfWorker(context, page);
  const began = performance.now();
  const source = `/plain/${LARGE_MIB}.gguf`;
  await ok(page, "open", { source });
  await ok(page, "complete");
  const heaps = [await heap.largest()];
  const write = (LARGE_MIB * 1.048576) / ((performance.now() - began) / 1000);
  const speeds: number[] = [];
  for (const step of [512 << 10, 4 << 20]) speeds.push((await ok(page, "read", { step, isTimed: true })) as number);
  heaps.push(await heap.largest());
  await ok(page, "close");
  await ok(page, "open", { source, cache: "none" });
  const remote = (await ok(page, "read", { step: 512 << 10, isTimed: true })) as number;
  heaps.push(await heap.largest());
  await heap.stop();
  const whole = (numbers: number[]) => numbers.map((one) => one.toFixed(0)).join(", ");
  console.log(`${LARGE_MIB} MiB: ${whole([write])} MB/s from the network into OPFS; OPFS read ${whole(speeds)} MB/s by ` +
    `512 KiB, 4 MiB; without a cache ${whole([remote])} MB/s; heap at most ${whole(heaps.map((one) => one / 1e6))} MB ` +
    "while it was downloaded, read, read without a cache");
  for (const bytes of heaps) {
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(MOST_HEAP);
  }
  await page.close();
});
