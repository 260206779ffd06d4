// The page and the Worker, over a fake module: runs, turns, cancelling, errors.
import { expect, test, vi } from "vitest";
import type { Doing, Piece } from "../src/api.ts";
import { TokamakError } from "../src/errors.ts";
import type { StepEvent, StepReply } from "../src/protocol.ts";
import { type Verbs, opened, soon } from "./fakes.ts";

/** Texts that say their own number, one token a step, until `maxTokens` or cancelled. */
function writer(log: string[] = []): Verbs {
  const active = new Map<number, { left: number; ids: number[]; cancelled: boolean }>();
  let last = 0;
  const done = (tokens: number, finish: "length" | "cancelled") => ({
    finish,
    stop: "",
    tokens,
    seed: 1,
    promptTokens: 1,
    cachedTokens: 0,
    prefillSeconds: 0,
    decodeSeconds: 0,
  });
  return {
    generate: ({ maxTokens }: { maxTokens: number }) => {
      last += 1;
      log.push(`generate ${last}`);
      active.set(last, { left: maxTokens, ids: [], cancelled: false });
      return { request: last };
    },
    cancel: ({ request }: { request: number }) => {
      log.push(`cancel ${request}`);
      const run = active.get(request);
      if (run) run.cancelled = true;
      return {};
    },
    tokenize: () => {
      log.push("tokenize");
      return { ids: [1, 2] };
    },
    step: async (): Promise<StepReply> => {
      log.push("step");
      await soon(1);
      const events: StepEvent[] = [];
      for (const [request, run] of active) {
          if (run.cancelled || run.left === 0) {
          const finish = run.cancelled ? "cancelled" : "length";
          events.push({ request, done: done(run.ids.length, finish) });
          active.delete(request);
          continue;
        }
        run.left -= 1;
        run.ids.push(request);
        events.push({ request, text: `${request}`, ids: [request] });
      }
      return { more: active.size > 0, events };
    },
  };
}

async function all(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const found: Piece[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
}

test("the pieces of a run make its result", async () => {
  const { engine } = await opened(writer());
  const run = engine.generate("a", { maxTokens: 40 });
  const pieces = await all(run);
  const { text, ids, finish } = await run.result;
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  expect(pieces.flatMap((piece) => piece.ids)).toEqual(ids);
  expect([ids.length, finish]).toEqual([40, "length"]);
});

test("tokens of 16 ms come in one message", async () => {
  const { engine, worker } = await opened(writer());
  const began = performance.now();
  await engine.generate("a", { maxTokens: 60 }).result;
  const took = performance.now() - began;
  const parts = worker.toPage.filter((message) => message.kind === "part" && message.part.kind === "piece");
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.length).toBeLessThan(took / 16 + 3);
});

test("several texts run side by side, and a verb has its turn between two steps", async () => {
  const log: string[] = [];
  const { engine } = await opened(writer(log));
  const first = engine.generate("a", { maxTokens: 30 });
  const second = engine.generate("b", { maxTokens: 5 });
  expect(await engine.tokenize("x")).toEqual(Uint32Array.of(1, 2));
  expect((await second.result).text).toBe("22222");
  expect((await first.result).text).toBe("1".repeat(30));
  expect(log.indexOf("tokenize")).toBeLessThan(log.lastIndexOf("step"));
  expect(log.indexOf("generate 2")).toBeLessThan(log.lastIndexOf("step"));
  const steps = log.filter((line) => line === "step").length;
  expect(steps).toBeLessThan(34); // not one after the other
});

test("nothing steps while no text is running", async () => {
  const log: string[] = [];
  const { engine } = await opened(writer(log));
  await engine.generate("a", { maxTokens: 2 }).result;
  const steps = log.filter((line) => line === "step").length;
  await soon(30);
  expect(log.filter((line) => line === "step").length).toBe(steps);
  expect((await engine.generate("b", { maxTokens: 2 }).result).text).toBe("22");
});

test("cancelling ends a text with what there is", async () => {
  const { engine } = await opened(writer());
  const run = engine.generate("a", { maxTokens: 10_000 });
  const left = engine.generate("b", { maxTokens: 10_000 });
  const abort = new AbortController();
  const aborted = engine.generate("c", { maxTokens: 10_000, signal: abort.signal });
  for await (const piece of left) {
    expect(piece.text).toMatch(/^2+$/);
    break; // leaving the loop cancels
  }
  run.cancel();
  abort.abort();
  for (const one of [run, left, aborted]) {
    const { finish, ids } = await one.result;
    expect(finish).toBe("cancelled");
    expect(ids.length).toBeLessThan(100);
  }
});

test("a signal that was aborted before ends a text at once, with a result", async () => {
  const verbs = writer();
  const slowly = async (values: never) => {
    await soon();
    return verbs["generate"]?.(values);
  };
  const { engine } = await opened({ ...verbs, generate: slowly });
  const run = engine.generate("a", { maxTokens: 10_000, signal: AbortSignal.abort() });
  expect(await run.result).toMatchObject({ finish: "cancelled" });
});

test("one text's error is its own", async () => {
  const verbs = writer();
  const { engine } = await opened({
    ...verbs,
    generate: (values: { prompt?: string; maxTokens: number }) => {
      if (values.prompt === "bad") throw new TokamakError("invalid-input", "The prompt is bad.");
      return verbs["generate"]?.(values as never);
    },
  });
  const good = engine.generate("a", { maxTokens: 10 });
  const bad = engine.generate("bad");
  await expect(all(bad)).rejects.toMatchObject({ code: "invalid-input", message: "The prompt is bad." });
  await expect(bad.result).rejects.toBeInstanceOf(TokamakError);
  expect((await good.result).ids.length).toBe(10);
});

test("a long verb is cancelled by its signal", async () => {
  const { engine } = await opened({
    embed: async (_values, signal) => {
      while (!signal?.aborted) await soon(1);
      throw new TokamakError("cancelled", "embed was cancelled.");
    },
  });
  const abort = new AbortController();
  const vectors = engine.embed("a", { signal: abort.signal });
  setTimeout(() => abort.abort(), 10);
  await expect(vectors).rejects.toMatchObject({ code: "cancelled" });
});

test("long verbs tell how far they are, each to the one who asked", async () => {
  const { engine, worker } = await opened({
    ...writer(),
    bench: () => worker.start?.event("progress", { phase: "bench", doing: "tg32" }) ?? {},
    self_test: () => {
      worker.start?.event("progress", { phase: "self-test", done: 1, total: 9 });
      return { kernels: [] };
    },
  });
  const seen: Doing[] = [];
  const onProgress = (doing: Doing) => seen.push(doing);
  const measured = engine.bench({ prompts: [1], onProgress });
  expect(engine.store.getSnapshot()).toMatchObject({ status: "busy", runs: 1 });
  await measured;
  expect(engine.store.getSnapshot()).toMatchObject({ status: "ready", runs: 0 });
  await engine.selfTest({ onProgress });
  await engine.selfTest();
  expect(seen).toEqual([
    { phase: "bench", doing: "tg32" },
    { phase: "self-test", done: 1, total: 9 },
  ]);
});

test("a trap in a step ends every text and the engine, and says so", async () => {
  const { engine, worker } = await opened({
    ...writer(),
    step: async () => {
      await soon(1);
      throw new TokamakError("crashed", "The engine has stopped: unreachable.");
    },
  });
  const runs = [engine.generate("a"), engine.generate("b")];
  for (const run of runs) await expect(run.result).rejects.toMatchObject({ code: "crashed" });
  expect(engine.store.getSnapshot().status).toBe("crashed");
  expect(worker.terminated).toBe(true);
  await expect(engine.tokenize("x")).rejects.toMatchObject({ code: "crashed" });
});

test("a Worker that stops ends what waits for it", async () => {
  const { engine, worker } = await opened(writer());
  const run = engine.generate("a", { maxTokens: 10_000 });
  await soon();
  worker.fail("out of memory");
  await expect(run.result).rejects.toMatchObject({
    code: "crashed",
    message: "The Worker has stopped: out of memory.",
  });
});

test("closing ends texts and the Worker; later calls say why they fail", async () => {
  const { engine, worker } = await opened(writer());
  const run = engine.generate("a", { maxTokens: 10_000 });
  await soon();
  await engine.close();
  await expect(run.result).rejects.toMatchObject({ code: "cancelled" });
  await expect(engine.detokenize([1])).rejects.toThrow("The engine is closed.");
  expect(worker.terminated).toBe(true);
  expect(engine.store.getSnapshot()).toMatchObject({ status: "closed", runs: 0 });
});

test("the store tells of changes, with one object per state", async () => {
  const { engine, worker } = await opened(writer());
  const seen: string[] = [];
  const leave = engine.store.subscribe(() => seen.push(engine.store.getSnapshot().status));
  expect(engine.store.getSnapshot()).toBe(engine.store.getSnapshot());
  const before = engine.store.getSnapshot();
  const { ids } = await engine.generate("a", { maxTokens: 3 }).result;
  expect(engine.store.getSnapshot()).not.toBe(before);
  expect(seen[0]).toBe("busy");
  expect(engine.store.getSnapshot()).toMatchObject({ status: "ready", runs: 0, tokens: 3 });
  expect(engine.store.getSnapshot().lastResult?.ids).toEqual(ids);
  worker.start?.device.lost("The driver has been reset.");
  await vi.waitFor(() => expect(engine.store.getSnapshot().lost).toBe(true));
  leave();
  const count = seen.length;
  worker.start?.device.restored("again");
  await vi.waitFor(() => expect(engine.store.getSnapshot().lost).toBe(false));
  expect(seen.length).toBe(count);
});

test("notices reach those who listen", async () => {
  const { engine, worker } = await opened({});
  const told: string[] = [];
  const leave = engine.on("notice", (text) => told.push(text));
  worker.start?.event("notice", { text: "slow kernel" });
  await vi.waitFor(() => expect(told).toEqual(["slow kernel"]));
  leave();
  worker.start?.event("notice", { text: "unheard" });
  await soon();
  expect(told).toEqual(["slow kernel"]);
});
