// The notes before a start, and what the next one makes of them.
import { afterEach, expect, test, vi } from "vitest";
import { TokamakError } from "../src/errors.ts";
import { open } from "../src/index.ts";
import { type LadderHost, SubmitLadder } from "../src/submit_ladder.ts";
import { FACTS, DEVICE, FakeModule, RUNS, type Verbs, WASM, fakeWorker, soon } from "./fakes.ts";

/** The storage that all tabs of a browser share. */
function browser(version = "1") {
  const stored = new Map<string, string>();
  const held = new Map<object, { name: string }>();
  return {
    stored,
    /** Ladders in a tab of its own; `crash` ends it, `event` is one of its page's. */
    tab(more: Partial<LadderHost> = {}) {
      const page = new EventTarget();
      const own: object[] = [];
      const host: LadderHost = {
        storage: { getItem: (key) => stored.get(key) ?? null, setItem: (key, text) => void stored.set(key, text) },
        locks: {
          request: async (name: string, _how: unknown, work: (lock: null) => Promise<void>) => {
            const lock = {};
            own.push(lock);
            held.set(lock, { name });
            await work(null);
            held.delete(lock);
          },
          query: async () => ({ held: [...held.values()] }),
        } as never,
        browser: version,
        page,
        isHidden: () => false,
        ...more,
      };
      return {
        ladder: new SubmitLadder(host),
        crash: () => own.forEach((lock) => held.delete(lock)),
        event: (name: string) => page.dispatchEvent(new Event(name)),
      };
    },
  };
}
const begun = (tab: { ladder: SubmitLadder }) => tab.ladder.begin();
afterEach(() => vi.unstubAllGlobals());

test("a tab that ends in the middle of an attempt makes the steps of the next start smaller, each time, and they stay", async () => {
  const tabs = browser();
  const seen: number[] = [];
  for (let starts = 0; starts < 5; ++starts) {
    const tab = tabs.tab();
    seen.push((await begun(tab)).dispatches);
    tab.ladder.attempt();
    tab.crash();
  }
  expect(seen).toEqual([0, 64, 8, 1, 1]);
  const good = tabs.tab();
  await begun(good);
  good.ladder.attempt()();
  expect(await begun(tabs.tab())).toEqual({ dispatches: 1, isLowered: false });
});

test("a start that ends well, or that its visitor leaves, changes nothing", async () => {
  const tabs = browser();
  const well = tabs.tab();
  const survived = well.ladder.attempt();
  well.ladder.attempt()();
  survived();
  well.crash();
  expect(await begun(tabs.tab())).toEqual({ dispatches: 0, isLowered: false });
  for (const event of ["pagehide", "visibilitychange"]) {
    const left = tabs.tab({ isHidden: () => true });
    left.ladder.attempt();
    left.event(event);
    left.crash();
    expect(await begun(tabs.tab())).toEqual({ dispatches: 0, isLowered: false });
  }
});

test("an attempt goes on when its tab is looked at again", async () => {
  let isHidden = true;
  const tabs = browser();
  const tab = tabs.tab({ isHidden: () => isHidden });
  tab.ladder.attempt();
  tab.event("visibilitychange");
  isHidden = false;
  tab.event("visibilitychange");
  tab.crash();
  expect(await begun(tabs.tab())).toEqual({ dispatches: 64, isLowered: true });
});

test("another tab's attempt that is running is no end", async () => {
  const tabs = browser();
  tabs.tab().ladder.attempt();
  expect(await begun(tabs.tab())).toEqual({ dispatches: 0, isLowered: false });
});

test("another version of the browser begins anew, and so does one that keeps nothing", async () => {
  const tabs = browser();
  const tab = tabs.tab();
  tab.ladder.attempt();
  tab.crash();
  expect(await begun(tabs.tab({ browser: "2" }))).toEqual({ dispatches: 0, isLowered: false });
  tabs.stored.set("tokamak.submit", "{no JSON");
  expect(await begun(tabs.tab())).toEqual({ dispatches: 0, isLowered: false });
  const bare = tabs.tab({ storage: undefined, locks: undefined, page: undefined });
  bare.ladder.attempt()();
  expect(await begun(bare)).toEqual({ dispatches: 0, isLowered: false });
});

/** `open` in a page that stores: the module's options of each opening. */
async function opening(verbs: Verbs, stored = new Map<string, string>()) {
  vi.stubGlobal("localStorage", { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, text: string) => void stored.set(key, text) });
  vi.resetModules(); // a page has one ladder
  const { open } = await import("../src/index.ts");
  const opened: unknown[] = [];
  vi.stubGlobal("Worker", function Worker() {
    return fakeWorker(new FakeModule({
      ...RUNS,
      ...verbs,
      open: ({ submitDispatches = 0 }: { submitDispatches?: number }) => {
        opened.push([submitDispatches, JSON.parse(stored.get("tokamak.submit") ?? "null")?.isTrying]);
        return { ...FACTS, device: DEVICE };
      },
    }));
  });
  const engine = await open("https://x.invalid/m/", { worker: "https://x.invalid/worker.js", wasm: WASM });
  return { engine, opened, isTrying: () => JSON.parse(stored.get("tokamak.submit")!).isTrying as boolean };
}

test("a start and a text are noted until they have come so far", async () => {
  const { engine, opened, isTrying } = await opening({
    generate: () => ({ request: 1 }),
    step: async () => {
      await soon(20);
      return { more: true, events: [{ request: 1, text: "a", ids: [1] }] };
    },
    cancel: () => ({}),
  });
  expect(opened).toEqual([[0, true]]);
  expect(isTrying()).toBe(false);
  const run = engine.generate("a", { maxTokens: 9 });
  expect(isTrying()).toBe(true);
  for await (const _ of run) break;
  expect(isTrying()).toBe(false);
  await engine.close();
});

test("a device that is lost again and again gets smaller steps at once", async () => {
  const { engine, opened } = await opening({
    embed: () => {
      if (opened.length < 3) throw new TokamakError("device-lost", "The device was lost 3 times in a row.");
      return { vectors: [[1]] };
    },
  });
  await expect(engine.embed("a")).rejects.toMatchObject({ code: "device-lost" });
  expect(await engine.embed("a")).toHaveLength(1);
  expect(opened.map((one) => (one as number[])[0])).toEqual([0, 64, 8]);
});

test("what the page asks for stays, and the CPU has no steps", async () => {
  const stored = new Map([["tokamak.submit", JSON.stringify({ browser: navigator.userAgent, step: 2, isTrying: false })]]);
  const { opened } = await opening({}, stored);
  expect(opened).toEqual([[8, true]]);
  for (const options of [{ submitDispatches: 0 }, { backend: "cpu" as const }, { backend: "cpu-reference" as const }]) {
    const module = new FakeModule(RUNS);
    await open("https://x.invalid/m/", { ...options, worker: fakeWorker(module) as never, wasm: WASM });
    expect(module.calls.find(({ verb }) => verb === "open")?.values).toMatchObject(options);
    expect(JSON.parse(stored.get("tokamak.submit")!).isTrying).toBe(false);
  }
});
