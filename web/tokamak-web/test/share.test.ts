// Several tabs with one engine, over fake modules: who has the Worker, and who has it next.
import { afterEach, expect, test, vi } from "vitest";
import type { EngineState, Generation } from "../src/api.ts";
import { Connection } from "../src/connection.ts";
import { type Facts, WorkerEngine } from "../src/engine.ts";
import { isMoved } from "../src/errors.ts";
import { Share } from "../src/share.ts";
import { FACTS, DEVICE, FakeModule, type FakeWorker, OPENING, RUNS, type Verbs, bySeed, fakeWorker, soon, writer } from "./fakes.ts";
import { FakeBrowser, type FakeTab } from "./fake_tabs.ts";

const NAME = "engine";

/** A browser, and what opens a shared engine in a new tab of it; each Worker has the next module, the last one for all after it. */
function browserOver(...modules: (() => Verbs)[]) {
  const browser = new FakeBrowser();
  const workers: FakeWorker[] = [];
  const owners: FakeTab[] = [];
  async function begun() {
    const tab = browser.tab();
    const begin = () => {
      const verbs = modules[Math.min(workers.length, modules.length - 1)]!();
      const worker = fakeWorker(new FakeModule({ ...RUNS, ...verbs }));
      workers.push(worker);
      owners.push(tab);
      return worker;
    };
    const share = (await Share.enter(NAME, begin, "worker.js", tab))!;
    const connection = new Connection(() => share.start());
    const abort = new AbortController();
    const facts = connection.send(OPENING.call, OPENING.part, abort.signal).result as Promise<Facts>;
    facts.catch((error) => connection.end(error as never));
    return { tab, share, connection, abort, facts };
  }
  async function opened() {
    const one = await begun();
    const facts = await one.facts;
    let stops = 0;
    one.connection.recover = (error) => (isMoved(error) || (stops += 1) < 4 ? OPENING : null);
    const engine = new WorkerEngine(one.connection, facts);
    const states: EngineState["status"][] = [];
    engine.store.subscribe(() => {
      const { status } = engine.store.getSnapshot();
      if (states.at(-1) !== status) states.push(status);
    });
    const told: string[] = [];
    engine.on("stopped", (text) => told.push(text));
    return { ...one, engine, states, told };
  }
  /** A tab that ends takes its Workers with it. */
  const end = (tab: FakeTab, isClosed: boolean) => {
    for (const [at, owner] of owners.entries()) if (owner === tab) workers[at]!.terminated = true;
    tab.end(isClosed);
  };
  return { browser, workers, begun, opened, end };
}

const expected = ({ seed }: Generation, count: number) => Array.from({ length: count }, (_, index) => bySeed(seed, index));
const alive = (workers: FakeWorker[]) => workers.filter(({ terminated }) => !terminated).length;

afterEach(() => vi.useRealTimers());

test("two tabs have one Worker, at the same time, and each its own texts", async () => {
  const { workers, opened, browser } = browserOver(() => writer(bySeed));
  const first = await opened();
  const second = await opened();
  expect(second.engine.model).toEqual(FACTS.model);
  expect(second.engine.adapter).toMatchObject({ name: DEVICE.name });
  const runs = [first, second].map(({ engine }) => engine.generate("a", { maxTokens: 30, logprobs: 1 }));
  const results = await Promise.all(runs.map(({ result }) => result));
  for (const result of results) expect(result.ids).toEqual(expected(result, 30));
  expect(results[0]!.seed).not.toBe(results[1]!.seed);
  expect([first, second].map(({ engine }) => engine.store.getSnapshot().tabs)).toEqual([2, 2]);
  expect(workers[0]!.toWorker.filter((message) => message.kind === "call" && message.call.kind === "open")).toHaveLength(1);
  // A text is cancelled by its own tab, and by the end of it.
  const cancelled = second.engine.generate("b", { maxTokens: 100_000 });
  await vi.waitFor(() => expect(second.engine.store.getSnapshot().tokens).toBeGreaterThan(31));
  cancelled.cancel();
  expect((await cancelled.result).finish).toBe("cancelled");
  void second.engine.generate("c", { maxTokens: 100_000 }).result.catch(() => undefined);
  await soon(20);
  await second.engine.close();
  await vi.waitFor(() => expect(first.engine.store.getSnapshot().tabs).toBe(1));
  await vi.waitFor(() => expect(workers[0]!.toWorker.filter(({ kind }) => kind === "cancel")).toHaveLength(2));
  expect(first.states.at(-1)).toBe("ready");
  await first.engine.close();
  await soon();
  expect([workers.length, alive(workers), browser.held.length]).toEqual([1, 0, 0]);
});

test("the tab that opened it closes its engine: the Worker stays for the other", async () => {
  const { workers, opened, browser } = browserOver(() => writer(bySeed));
  const first = await opened();
  const second = await opened();
  const run = second.engine.generate("a", { maxTokens: 40 });
  await first.engine.close();
  const result = await run.result;
  expect(result.ids).toEqual(expected(result, 40));
  expect([workers.length, alive(workers), second.told]).toEqual([1, 1, []]);
  await second.engine.close();
  await vi.waitFor(() => expect([alive(workers), browser.held.length]).toEqual([0, 0]));
});

for (const isClosed of [true, false]) {
  test(`the tab that has the Worker ${isClosed ? "is closed" : "crashes"}: the next one goes on, the third with it`, async () => {
    const { workers, opened, end } = browserOver(() => writer(bySeed));
    const first = await opened();
    const second = await opened();
    const third = await opened();
    const runs = [second, third].map(({ engine }) => engine.generate("a", { maxTokens: 60 }));
    await vi.waitFor(() => expect(third.engine.store.getSnapshot().tokens).toBeGreaterThan(5));
    end(first.tab, isClosed);
    for (const run of runs) {
      const result = await run.result;
      expect(result.ids).toEqual(expected(result, 60));
    }
    expect(second.states).toEqual(["ready", "busy", "reopening", "busy", "ready"]);
    expect([second.told, third.told.length]).toEqual([[`The tab that had the model ${isClosed ? "was closed" : "has ended"}.`], 1]);
    expect([workers.length, alive(workers)]).toEqual([2, 1]);
    expect([second, third].map(({ engine }) => engine.store.getSnapshot().tabs)).toEqual([2, 2]);
    end(second.tab, isClosed);
    expect(await third.engine.tokenize("x")).toEqual(Uint32Array.of(7));
    expect([workers.length, alive(workers), third.engine.store.getSnapshot().tabs]).toEqual([3, 1, 1]);
  });
}

test("the Worker stops: both tabs go on with the next one", async () => {
  const { workers, opened } = browserOver(() => writer(bySeed, 20), () => writer(bySeed));
  const first = await opened();
  const second = await opened();
  const runs = [first, second].map(({ engine }) => engine.generate("a", { maxTokens: 60 }));
  for (const run of runs) {
    const result = await run.result;
    expect(result.ids).toEqual(expected(result, 60));
  }
  expect([first.told, second.told]).toEqual([["The engine has stopped: unreachable."], ["The engine has stopped: unreachable."]]);
  expect([workers.length, alive(workers)]).toEqual([2, 1]);
  // The page that had it has another model by now: the other tab opens it.
  await first.engine.close();
  workers[1]!.fail("killed");
  expect(await second.engine.tokenize("x")).toEqual(Uint32Array.of(7));
  expect([workers.length, alive(workers)]).toEqual([3, 1]);
});

test("an opening that is stopped, or whose tab is closed, goes on for those who wait for it", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const { workers, begun, opened, end } = browserOver(() => ({ ...writer(bySeed), open: async () => (await gate, { ...FACTS, device: DEVICE }) }));
  const first = await begun();
  const second = begun();
  await soon(20);
  first.abort.abort();
  await expect(first.facts).rejects.toMatchObject({ code: "cancelled" });
  const third = await begun();
  await soon(20);
  end((await second).tab, true);
  await soon(20);
  expect(alive(workers)).toBeLessThanOrEqual(1);
  release();
  expect((await third.facts).model).toEqual(FACTS.model);
  expect((await opened()).engine.store.getSnapshot().tabs).toBe(2);
  expect(alive(workers)).toBe(1);
});

test("an opening goes on for those who wait for it where the engine is closed that asked first", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const again = async (_values: never, signal?: AbortSignal) => {
    await gate;
    signal?.throwIfAborted();
    return { ...FACTS, device: DEVICE };
  };
  const { workers, opened } = browserOver(() => writer(bySeed), () => ({ ...writer(bySeed), open: again }));
  const [first, second] = [await opened(), await opened()];
  workers[0]!.fail("killed");
  const tokens = second.engine.tokenize("x");
  await vi.waitFor(() => expect(second.tab.posted.filter((kind) => kind === "to")).toHaveLength(3), 10_000); // two openings and this call
  await soon();
  await first.engine.close();
  await soon();
  release();
  expect(await tokens).toEqual(Uint32Array.of(7));
  expect([workers.length, alive(workers)]).toEqual([2, 1]);
});

test("the tab that opens the model is closed meanwhile: who waits for it opens it", async () => {
  const { workers, begun, end } = browserOver(() => ({ ...writer(bySeed), open: () => new Promise(() => {}) }), () => writer(bySeed));
  const first = await begun();
  const others = [await begun(), await begun()];
  await soon(20);
  end(first.tab, false);
  for (const { facts } of others) expect((await facts).model).toEqual(FACTS.model);
  expect([workers.length, alive(workers)]).toEqual([2, 1]);
});

test("an opening that was cancelled stays so where the tab that should have answered has ended", async () => {
  const { browser, workers, begun, end } = browserOver(() => ({ ...writer(bySeed), open: () => new Promise(() => {}) }), () => writer(bySeed));
  const first = await begun();
  const second = await begun();
  await soon(20);
  first.tab.suspend();
  second.abort.abort();
  await soon(20);
  end(first.tab, false);
  await expect(second.facts).rejects.toMatchObject({ code: "cancelled" });
  await vi.waitFor(() => expect([alive(workers), browser.held.length]).toEqual([0, 0]));
});

test("a text outlives every tab that is closed, and ends with its own", async () => {
  const { workers, opened, end } = browserOver(() => writer(bySeed));
  const [first, second, third] = [await opened(), await opened(), await opened()];
  const run = third.engine.generate("a", { maxTokens: 150 });
  const until = (tokens: number) => vi.waitFor(() => expect(third.engine.store.getSnapshot().tokens).toBeGreaterThan(tokens));
  await until(5);
  end(first.tab, true);
  await until(40);
  end(second.tab, true);
  const result = await run.result;
  expect(result.ids).toEqual(expected(result, 150));
  expect([workers.length, third.share.isOwner]).toEqual([3, true]);
  const fourth = await opened();
  void fourth.engine.generate("b", { maxTokens: 100_000 }).result.catch(() => undefined);
  await vi.waitFor(() => expect(fourth.engine.store.getSnapshot().tokens).toBeGreaterThan(2));
  end(fourth.tab, false);
  await vi.waitFor(() => expect(workers[2]!.toWorker.some(({ kind }) => kind === "cancel")).toBe(true));
  expect(third.engine.store.getSnapshot().tabs).toBe(1);
});

test("an opening that nobody wants any more leaves nothing", async () => {
  const { browser, workers, begun, opened } = browserOver(() => ({ ...writer(bySeed), open: () => new Promise(() => {}) }), () => writer(bySeed));
  const first = await begun();
  await soon(20);
  first.abort.abort();
  await expect(first.facts).rejects.toMatchObject({ code: "cancelled" });
  await soon(20);
  expect([alive(workers), browser.held.length]).toEqual([0, 0]);
  expect((await opened()).engine.store.getSnapshot().tabs).toBe(1);
});

test("a tab that the browser has suspended loses the model to one that needs it, and joins it later", async () => {
  vi.useFakeTimers();
  const { workers, opened } = browserOver(() => writer(bySeed));
  const opening = opened();
  await vi.advanceTimersByTimeAsync(100);
  const first = await opening;
  const another = opened();
  await vi.advanceTimersByTimeAsync(100);
  const second = await another;
  await vi.advanceTimersByTimeAsync(60_000); // nobody asks for anything
  expect(workers).toHaveLength(1);
  first.tab.suspend();
  workers[0]!.terminated = true; // it is suspended with its tab
  const run = second.engine.generate("a", { maxTokens: 20 });
  await vi.advanceTimersByTimeAsync(15_000);
  const result = await run.result;
  expect(result.ids).toEqual(expected(result, 20));
  expect(workers).toHaveLength(2);
  first.tab.resume();
  await vi.advanceTimersByTimeAsync(1000);
  const tokens = first.engine.tokenize("x");
  await vi.advanceTimersByTimeAsync(1000);
  expect(await tokens).toEqual(Uint32Array.of(7));
  expect([workers.length, alive(workers), first.share.isOwner, second.share.isOwner]).toEqual([2, 1, false, true]);
  expect(first.engine.store.getSnapshot().tabs).toBe(2);
});

test("a tab that was idle leaves the model where it is, however long its first answer takes", async () => {
  vi.useFakeTimers();
  const { workers, opened } = browserOver(() => ({ ...writer(bySeed), tokenize: async () => (await soon(5000), { ids: [7] }) }));
  const both = Promise.all([opened(), opened()]);
  await vi.advanceTimersByTimeAsync(100);
  const [, second] = await both;
  await vi.advanceTimersByTimeAsync(60_000);
  const tokens = second.engine.tokenize("x");
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await tokens).toEqual(Uint32Array.of(7));
  expect([workers.length, second.share.isOwner, second.told]).toEqual([1, false, []]);
});

test("a conversation by voice is refused", async () => {
  const { opened } = browserOver(() => writer(bySeed));
  const { engine } = await opened();
  await expect(engine.talkLoop({} as never)).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("without `share`") });
});
