// `open` with one engine for several tabs, over the browser's parts and fake modules.
import { afterEach, expect, test, vi } from "vitest";
import type { OpenOptions } from "../src/api.ts";
import { TokamakError } from "../src/errors.ts";
import { Hub } from "../src/share_hub.ts";
import { DEVICE, FACTS, FakeModule, type FakeWorker, OPENING, RUNS, type Verbs, WASM, bySeed, fakeWorker, oneFile, soon, writer } from "./fakes.ts";
import { FakeBrowser, type FakeTab } from "./fake_tabs.ts";

afterEach(() => vi.unstubAllGlobals());

/** A browser whose tabs open the same model; each Worker has the next module, the last one for all after it. */
function browserOver(...modules: Verbs[]) {
  const browser = new FakeBrowser();
  const workers: FakeWorker[] = [];
  const stored = new Map<string, string>();
  vi.stubGlobal("TOKAMAK_BUILD", "1");
  vi.stubGlobal("localStorage", { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, text: string) => void stored.set(key, text) });
  vi.stubGlobal("Worker", function Worker() {
    const worker = fakeWorker(new FakeModule({ ...RUNS, ...writer(bySeed), ...modules[Math.min(workers.length, modules.length - 1)] }));
    workers.push(worker);
    return worker;
  });
  /** In a new tab, unless one is given. */
  const opening = async (options: OpenOptions = {}, tab: FakeTab = browser.tab()) => {
    vi.resetModules(); // a page has its own
    const { open } = await import("../src/index.ts");
    vi.stubGlobal("navigator", { locks: tab.locks, userAgent: "1" });
    vi.stubGlobal("BroadcastChannel", function BroadcastChannel(name: string) {
      return tab.channel(name);
    });
    return open("https://x.invalid/m/", { worker: "https://x.invalid/worker.js", wasm: WASM, share: true, ...options });
  };
  const note = () => JSON.parse(stored.get("tokamak.submit")!) as { step: number; isTrying: boolean };
  const steps = () => workers.map(({ toWorker }) => toWorker.flatMap((message) => (message.kind === "call" && message.call.kind === "open" ? [message.call.options.submitDispatches ?? 0] : [])));
  return { browser, workers, opening, note, steps };
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
  await vi.waitFor(() => expect(workers).toHaveLength(1), 10_000);
  const waiting = browser.tab();
  const second = opening({}, waiting);
  await vi.waitFor(() => expect(waiting.posted).toContain("to"), 10_000);
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
  await vi.waitFor(() => expect(workers).toHaveLength(2), 10_000);
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

test("a device that all tabs lose together makes the steps smaller once", async () => {
  const lost = () => {
    throw new TokamakError("device-lost", "The device was lost 3 times in a row.");
  };
  const { workers, opening, note, steps } = browserOver({ embed: lost }, { embed: () => ({ vectors: [[1]] }) });
  const engines = [await opening(), await opening(), await opening()];
  expect(await engines[1]!.embed("a")).toEqual([Float32Array.of(1)]);
  await vi.waitFor(() => expect(engines.map((engine) => engine.store.getSnapshot().status)).toEqual(["ready", "ready", "ready"]), 10_000);
  expect([note().step, steps()]).toEqual([1, [[0], [64]]]);
  // Who has the Worker next has the same steps.
  await engines[0]!.close();
  workers[1]!.fail("killed");
  expect(await engines[2]!.embed("a")).toEqual([Float32Array.of(1)]);
  expect([note().step, steps()]).toEqual([1, [[0], [64], [64]]]);
});

test("an opening by which all tabs lose the device makes the steps smaller once", async () => {
  let lose = () => {};
  const gate = new Promise<void>((resolve) => (lose = resolve));
  const { browser, workers, opening, note } = browserOver({
    open: async () => {
      await gate;
      throw new TokamakError("device-lost", "The device was lost 3 times in a row.");
    },
  });
  const openings = [opening()];
  await vi.waitFor(() => expect(workers).toHaveLength(1), 10_000);
  const waiting = browser.tab();
  openings.push(opening({}, waiting));
  await vi.waitFor(() => expect(waiting.posted).toContain("to"), 10_000);
  await soon();
  lose();
  for (const one of openings) await expect(one).rejects.toMatchObject({ code: "device-lost" });
  expect([note().step, workers.length]).toEqual([1, 1]);
});

test("a tab from before an upgrade at the same address keeps its own Worker", async () => {
  const { workers, opening } = browserOver();
  await opening();
  vi.stubGlobal("TOKAMAK_BUILD", "2");
  const engines = [await opening(), await opening()];
  expect([workers.length, engines.map((engine) => engine.store.getSnapshot().tabs)]).toEqual([2, [2, 2]]);
});

test("a tab that ends or stops its opening before it answers what may be removed has answered no", async () => {
  for (const isEnded of [true, false]) {
    const worker = fakeWorker(new FakeModule(RUNS), async (source, options) => {
      await options.onEvict([]);
      return oneFile(source, options);
    });
    const hub = new Hub(worker, "worker.js", () => undefined);
    const asked: number[] = [];
    for (const tab of ["first", "second"]) {
      hub.join(tab, { post: (message) => message.kind === "evict" && asked.push(message.question), stopped: () => undefined });
      hub.receive(tab, { kind: "call", id: 1, call: OPENING.call });
    }
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    if (isEnded) hub.leave("first");
    else hub.receive("first", { kind: "cancel", id: 1 });
    hub.receive("first", { kind: "evict", question: asked[0]!, allowed: true }); // too late
    await vi.waitFor(() => expect(worker.toPage.map(({ kind }) => kind)).toContain("result"));
    expect(worker.toWorker.filter(({ kind }) => kind === "evict")).toEqual([{ kind: "evict", question: asked[0], allowed: false }]);
  }
});
