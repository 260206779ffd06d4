// Opening a model, over a fake module: what the Worker is given, progress, errors.
import { expect, test, vi } from "vitest";
import type { Check, Progress } from "../src/api.ts";
import { type ErrorCode, TokamakError } from "../src/errors.ts";
import { check, look, open } from "../src/index.ts";
import { DEVICE, FACTS, FakeModule, RUNS, type Verbs, WASM, fakeWorker, oneFile, opened, soon } from "./fakes.ts";

const MODEL = "https://x.invalid/m/";

test("a model opens with its facts, its files as numbers and no option of the page's", async () => {
  const { engine, module, worker } = await opened({});
  expect(engine.model).toEqual(FACTS.model);
  expect(engine.adapter).toMatchObject({ name: "fake GPU", tier: 1, waiting: "jspi" });
  const open = module.calls.find(({ verb }) => verb === "open");
  expect(open?.values).toEqual({ name: "fake", files: [{ name: "config.json", size: 2, id: 1 }] });
  expect(worker.start?.wasm).toBe(WASM);
});

test("a model that sees or hears gets the whole module, whose files and progress are the same", async () => {
  const asked: object[] = [];
  const verbs: Verbs = { needs_whole: (values: object) => (asked.push(values), { whole: true }) };
  const { module, worker } = await opened(verbs);
  expect(asked).toEqual([{ config: "{}", images: true }]);
  expect(worker.start?.wasm).toBe("https://x.invalid/tokamak_web_whole.wasm");
  expect(module.calls.at(-1)?.verb).toBe("open");
  const textOnly = fakeWorker(new FakeModule({ ...RUNS, ...verbs }));
  await open(MODEL, { worker: textOnly as never, wasm: WASM, megapixels: 0 });
  expect(asked.at(-1)).toEqual({ config: "{}", images: false });
});

test("progress is one number that never falls and ends at 1", async () => {
  const reports: [string, number, number][] = [
    ["compile", 0, 30],
    ["read", 10, 100],
    ["compile", 30, 30],
    ["read", 100, 100],
    ["upload", 50, 100],
    ["compile", 1, 30],
    ["upload", 100, 100],
    ["read", 2, 100],
  ];
  const module = new FakeModule({
    ...RUNS,
    open: async () => {
      for (const [phase, done, total] of reports) {
        worker.start?.event("progress", { phase, done, total });
        await soon(60);
      }
      return { ...FACTS, device: DEVICE };
    },
  });
  const worker = fakeWorker(module);
  const seen: Progress[] = [];
  const onProgress = (progress: Progress) => seen.push(progress);
  await open(MODEL, { worker: worker as never, wasm: WASM, onProgress });
  const overall = seen.map((progress) => progress.overall);
  expect(overall).toEqual(overall.toSorted((a, b) => a - b));
  expect(overall.slice(0, -1).every((value) => value < 1)).toBe(true);
  expect(new Set(overall).size).toBeGreaterThan(4);
  expect(seen.at(-1)).toMatchObject({ phase: "ready", overall: 1 });
});

test("progress is told 20 times a second, and the end of each phase always", async () => {
  const module = new FakeModule({
    ...RUNS,
    open: () => {
      for (let done = 0; done <= 1000; done += 1) {
        worker.start?.event("progress", { phase: "upload", done, total: 1000 });
      }
      worker.start?.event("progress", { phase: "upload", done: 1000, total: 1000 });
      return { ...FACTS, device: DEVICE };
    },
  });
  const worker = fakeWorker(module);
  const seen: [string, number][] = [];
  const onProgress = ({ phase, loaded }: Progress) => seen.push([phase, loaded]);
  await open(MODEL, { worker: worker as never, wasm: WASM, onProgress });
  expect(seen[0]).toEqual(["upload", 0]);
  expect(seen.slice(-2)).toEqual([["upload", 1000], ["ready", 1]]);
  expect(seen.filter(([, loaded]) => loaded === 1000)).toHaveLength(1);
  expect(seen.length).toBeLessThan(8);
});

test("a model that cannot be opened ends the Worker and gives its files back", async () => {
  let closed = 0;
  const module = new FakeModule({
    ...RUNS,
    open: () => {
      throw new TokamakError("unsupported", "The architecture is not known.");
    },
  });
  const worker = fakeWorker(module, async (source, options) => ({
    ...(await oneFile(source, options)),
    close: () => void (closed += 1),
  }));
  const opening = open(MODEL, { worker: worker as never, wasm: WASM });
  await expect(opening).rejects.toMatchObject({ code: "unsupported" });
  expect([closed, worker.terminated]).toEqual([1, true]);
});

test("a model is open once all its bytes have the right hash, and not with wrong ones", async () => {
  const opening = (complete: Promise<void>) => {
    const worker = fakeWorker(new FakeModule(RUNS), async (source, options) => ({
      ...(await oneFile(source, options)),
      complete,
    }));
    return open(MODEL, { worker: worker as never, wasm: WASM });
  };
  const late = Promise.withResolvers<void>();
  let isOpen = false;
  const first = opening(late.promise).then(() => (isOpen = true));
  await soon(20);
  expect(isOpen).toBe(false);
  late.resolve();
  await first;
  const wrong = Promise.reject(new TokamakError("hash", "model.safetensors has another hash."));
  wrong.catch(() => {});
  await expect(opening(wrong)).rejects.toMatchObject({ code: "hash" });
});

test("a check says what a model takes, or why it does not run", async () => {
  const model = { context: 2048, memory: { weights: 1e9, total: 1.1e9 } };
  const checked = (verb: () => unknown) => {
    const worker = fakeWorker(new FakeModule({ ...RUNS, check: verb }));
    return check(MODEL, { worker: worker as never, wasm: WASM }).finally(() =>
      expect(worker.terminated).toBe(true),
    );
  };
  expect(await checked(() => ({ model, device: DEVICE }))).toMatchObject({
    runs: true,
    verdict: "tight",
    download: 2,
    module: 24e6,
    model,
  });
  const refused = (code: ErrorCode) => () => {
    throw new TokamakError(code, `It is ${code}.`);
  };
  expect(await checked(refused("unsupported"))).toMatchObject({
    runs: false,
    verdict: "unsupported",
    reason: "It is unsupported.",
  });
  await expect(checked(refused("invalid-input"))).rejects.toMatchObject({ code: "invalid-input" });
});

test("what a model takes is said before anything of it is downloaded, and may end the opening", async () => {
  const asked: boolean[] = [];
  vi.stubGlobal("Worker", function Worker() {
    const module = new FakeModule({ ...RUNS, check: () => ({ model: { memory: { total: 5e9 } }, device: DEVICE }) });
    return fakeWorker(module, (source, options) => {
      asked.push(options.headersOnly ?? false);
      return oneFile(source, options);
    });
  });
  const found: Check[] = [];
  const opening = (goesOn: boolean | undefined) =>
    open(MODEL, {
      worker: "https://x.invalid/worker.js",
      wasm: WASM,
      onCheck: (one) => {
        expect(asked).not.toContain(false);
        found.push(one);
        return goesOn;
      },
    });
  await expect(opening(false)).rejects.toMatchObject({ code: "cancelled" });
  expect(asked).toEqual([true]);
  await opening(undefined);
  expect(asked).toEqual([true, true, false]);
  expect(found).toMatchObject([{ verdict: "too-large", download: 2 }, { verdict: "too-large" }]);
  vi.unstubAllGlobals();
});

test("nothing is removed from the browser's files unless the page allows it", async () => {
  const answers: boolean[] = [];
  for (const options of [{}, { onEvict: () => true }]) {
    const worker = fakeWorker(new FakeModule(RUNS), async (source, given) => {
      answers.push(await given.onEvict([]));
      return oneFile(source, given);
    });
    await open(MODEL, { ...options, worker: worker as never, wasm: WASM });
  }
  expect(answers).toEqual([false, true]);
});

test("a model can be looked at from its headers, its files given back at once", async () => {
  let closed = 0;
  const module = new FakeModule({
    ...RUNS,
    check: () => ({ model: FACTS.model, device: DEVICE }),
    inspect: () => ({ text: "a graph" }),
  });
  const worker = fakeWorker(module, async (source, options) => {
    expect(options.headersOnly).toBe(true);
    return { ...(await oneFile(source, options)), close: () => void (closed += 1) };
  });
  const seen = await look(MODEL, { worker: worker as never, wasm: WASM });
  expect(seen.model).toEqual(FACTS.model);
  expect(closed).toBe(1);
  expect(await seen.inspect("graph")).toBe("a graph");
  expect(module.calls.map(({ verb }) => verb)).not.toContain("open");
  await seen.close();
});
