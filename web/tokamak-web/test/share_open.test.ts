// `open` with one engine for several tabs, over the browser's parts and fake modules.
import { afterEach, expect, test, vi } from "vitest";
import type { OpenOptions } from "../src/api.ts";
import { open } from "../src/index.ts";
import { DEVICE, FACTS, FakeModule, type FakeWorker, RUNS, type Verbs, WASM, bySeed, fakeWorker, soon, writer } from "./fakes.ts";
import { FakeBrowser, type FakeTab } from "./fake_tabs.ts";

afterEach(() => vi.unstubAllGlobals());

/** A browser whose tabs open the same model; each Worker has the next module, the last one for all after it. */
function browserOver(...modules: Verbs[]) {
  const browser = new FakeBrowser();
  const workers: FakeWorker[] = [];
  vi.stubGlobal("Worker", function Worker() {
    const worker = fakeWorker(new FakeModule({ ...RUNS, ...writer(bySeed), ...modules[Math.min(workers.length, modules.length - 1)] }));
    workers.push(worker);
    return worker;
  });
  /** In a new tab, unless one is given. */
  const opening = (options: OpenOptions = {}, tab: FakeTab = browser.tab()) => {
    vi.stubGlobal("navigator", { locks: tab.locks, userAgent: "1" });
    vi.stubGlobal("BroadcastChannel", function BroadcastChannel(name: string) {
      return tab.channel(name);
    });
    return open("https://x.invalid/m/", { worker: "https://x.invalid/worker.js", wasm: WASM, share: true, ...options });
  };
  return { browser, workers, opening };
}

test("a browser that refuses locks has an engine for each tab", async () => {
  const { browser, workers, opening } = browserOver();
  const refuse = () => Promise.reject(new DOMException("The site's data is blocked.", "SecurityError"));
  for (let tabs = 1; tabs <= 2; tabs += 1) {
    const tab = browser.tab();
    Object.assign(tab.locks, { request: refuse, query: refuse });
    const engine = await opening({}, tab);
    expect(await engine.tokenize("x")).toEqual(Uint32Array.of(7));
    expect([workers.length, tab.channels]).toEqual([tabs, 0]);
  }
});

test("an opening that its visitor stops goes on for the tab that waits for it, and without one the Worker ends", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const { browser, workers, opening } = browserOver({ open: async () => (await gate, { ...FACTS, device: DEVICE }) }, { open: () => new Promise(() => {}) });
  const stopped = [new AbortController(), new AbortController()] as const;
  const first = opening({ signal: stopped[0].signal });
  await vi.waitFor(() => expect(workers).toHaveLength(1));
  const waiting = browser.tab();
  const second = opening({}, waiting);
  await vi.waitFor(() => expect(waiting.posted).toContain("to"));
  await soon();
  stopped[0].abort();
  await expect(first).rejects.toMatchObject({ code: "cancelled" });
  expect(workers.map(({ terminated }) => terminated)).toEqual([false]);
  release();
  const engine = await second;
  expect([workers.length, engine.store.getSnapshot().tabs]).toEqual([1, 1]);
  await engine.close();
  await vi.waitFor(() => expect([workers[0]!.terminated, browser.held.length]).toEqual([true, 0]));
  const alone = opening({ signal: stopped[1].signal });
  await vi.waitFor(() => expect(workers).toHaveLength(2));
  stopped[1].abort();
  await expect(alone).rejects.toMatchObject({ code: "cancelled" });
  await vi.waitFor(() => expect([workers.length, workers[1]!.terminated, browser.held.length]).toEqual([2, true, 0]));
});

test("a Worker that cannot be started leaves no lock", async () => {
  const { browser, opening } = browserOver();
  vi.stubGlobal("Worker", undefined);
  await expect(opening()).rejects.toMatchObject({ code: "unsupported" });
  await vi.waitFor(() => expect(browser.held).toEqual([]));
});
