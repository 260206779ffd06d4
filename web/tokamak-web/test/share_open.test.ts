// `open` with one engine for several tabs, over the browser's parts and fake modules.
import { afterEach, expect, test, vi } from "vitest";
import type { OpenOptions } from "../src/api.ts";
import { open } from "../src/index.ts";
import { FakeModule, type FakeWorker, RUNS, type Verbs, WASM, fakeWorker, writer, bySeed } from "./fakes.ts";
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
