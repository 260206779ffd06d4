// A Worker that stops in the middle of things, over fake modules: another one takes its place.
import { afterEach, expect, test, vi } from "vitest";
import type { EngineState, Piece } from "../src/api.ts";
import { Connection } from "../src/connection.ts";
import { type Facts, WorkerEngine } from "../src/engine.ts";
import { TokamakError } from "../src/errors.ts";
import { openExchange } from "../src/exchange.ts";
import { open } from "../src/index.ts";
import { FACTS, FakeModule, type FakeWorker, OPENING, RUNS, type Verbs, WASM, bySeed, fakeWorker, soon, writer } from "./fakes.ts";

/** An engine whose Workers have these modules, one after the other. */
async function engineOver(...modules: Verbs[]) {
  const workers: FakeWorker[] = [];
  const connection = new Connection(() => {
    workers.push(fakeWorker(new FakeModule({ ...RUNS, ...modules[workers.length] })));
    return workers.at(-1)!;
  });
  const facts = (await connection.send(OPENING.call).result) as Facts;
  connection.recover = () => (workers.length < modules.length ? OPENING : null);
  const engine = new WorkerEngine(connection, facts);
  const states: EngineState["status"][] = [];
  engine.store.subscribe(() => {
    const { status } = engine.store.getSnapshot();
    if (states.at(-1) !== status) states.push(status);
  });
  return { engine, connection, workers, states };
}
afterEach(() => vi.unstubAllGlobals());

test("texts go on in a new Worker, every token once, and the engine says what happened", async () => {
  const { engine, workers, states } = await engineOver(writer(bySeed, 30), writer(bySeed));
  const told: string[] = [];
  for (const event of ["stopped", "reopened"] as const) engine.on(event, (text) => told.push(`${event}: ${text}`));
  const pieces: Piece[] = [];
  const runs = [engine.generate("a", { maxTokens: 60, logprobs: 1 }), engine.generate("b", { maxTokens: 40 })];
  for await (const piece of runs[0]!) pieces.push(piece);
  for (const [i, count] of [60, 40].entries()) {
    const { text, ids, tokens, seed } = await runs[i]!.result;
    expect(ids).toEqual(Array.from({ length: count }, (_, index) => bySeed(seed, index)));
    expect([text, tokens]).toEqual([ids.map((id) => `${id} `).join(""), count]);
  }
  const { ids } = await runs[0]!.result;
  expect(pieces.flatMap((piece) => piece.ids)).toEqual(ids);
  expect(pieces.flatMap((piece) => piece.logprobs!.map(({ id }) => id))).toEqual(ids);
  expect(told).toEqual(["stopped", "reopened"].map((event) => `${event}: The engine has stopped: unreachable.`));
  expect(states).toEqual(["busy", "reopening", "busy", "ready"]);
  expect(engine.store.getSnapshot().tokens).toBe(100);
  expect([workers.length, workers[0]!.terminated, workers[1]!.terminated]).toEqual([2, true, false]);
});

test("calls that come while the model is opened again wait for it", async () => {
  const { engine, workers } = await engineOver(writer(bySeed), writer(bySeed));
  workers[0]!.fail("killed");
  expect(engine.store.getSnapshot().status).toBe("reopening");
  expect(await engine.tokenize("x")).toEqual(Uint32Array.of(7));
  expect(workers).toHaveLength(2);
});

test("a text that is another one the second time fails, at the token that differs", async () => {
  const differs = (seed: number, index: number) => bySeed(seed, index) + (index === 3 ? 1 : 0);
  const { engine } = await engineOver(writer(bySeed, 30), writer(differs));
  const run = engine.generate("a", { maxTokens: 60 });
  await expect(run.result).rejects.toMatchObject({ code: "crashed", message: expect.stringContaining("from number 4 on") });
  expect(engine.store.getSnapshot().status).toBe("ready");
});

test("a text that stops two Workers is not given to a third one", async () => {
  const { engine, workers } = await engineOver(writer(bySeed, 9), writer(bySeed, 9), writer(bySeed));
  await expect(engine.generate("a", { maxTokens: 60 }).result).rejects.toMatchObject({ code: "crashed" });
  expect((await engine.generate("b", { maxTokens: 2 }).result).ids).toHaveLength(2);
  expect(workers).toHaveLength(3);
});

test("a text that is cancelled while the model is opened again ends with what there was", async () => {
  const { engine, workers } = await engineOver(writer(bySeed), writer(bySeed));
  const run = engine.generate("a", { maxTokens: 10_000 });
  await vi.waitFor(() => expect(engine.store.getSnapshot().tokens).toBeGreaterThan(5));
  const { tokens } = engine.store.getSnapshot();
  workers[0]!.fail("killed");
  run.cancel();
  const { finish, ids, tokens: counted } = await run.result;
  expect([finish, ids.length, counted]).toEqual(["cancelled", tokens, tokens]);
});

test("an answer of the OpenAI-shaped API that has begun fails; one that has not is given by the new Worker", async () => {
  const answers = (...events: object[]): Verbs => ({
    openai: () => ({ exchange: 1 }),
    step: async () => {
      await soon(1);
      const event = events.shift();
      if (!event) throw new TokamakError("crashed", "The engine has stopped: unreachable.");
      return { more: true, events: [{ exchange: 1, ...event }] };
    },
  });
  const request = { method: "POST", path: "/v1/chat/completions", body: "{}" };
  const read = async (...firsts: object[]) => {
    const { connection } = await engineOver(answers(...firsts), answers({ status: 200 }, { body: "all" }, { end: true }));
    const { body } = await openExchange(connection, request);
    let text = "";
    for await (const part of body as unknown as AsyncIterable<string>) text += part;
    return text;
  };
  expect(await read()).toBe("all");
  await expect(read({ status: 200 }, { body: "some" })).rejects.toMatchObject({ code: "crashed" });
});

test("a model that cannot be opened again ends the engine, with both reasons", async () => {
  const refuses = () => {
    throw new TokamakError("network", "The file is gone.");
  };
  const { engine, workers } = await engineOver(writer(bySeed, 9), { open: refuses });
  const message = "The engine has stopped: unreachable. It could not be opened again: The file is gone.";
  await expect(engine.generate("a", { maxTokens: 60 }).result).rejects.toMatchObject({ code: "crashed", message });
  expect(engine.store.getSnapshot().status).toBe("crashed");
  expect(workers[1]!.terminated).toBe(true);
  await expect(engine.tokenize("x")).rejects.toMatchObject({ code: "crashed" });
});

test("a call whose device is lost again and again is made once more in a new Worker", async () => {
  const lost = () => {
    throw new TokamakError("device-lost", "The device was lost 3 times in a row.");
  };
  const good: Verbs = { embed: () => ({ vectors: [[1]] }) };
  const restarted = await engineOver({ embed: lost }, good);
  expect(await restarted.engine.embed("a")).toEqual([Float32Array.of(1)]);
  const storm = await engineOver({ embed: lost }, { embed: lost, ...writer(bySeed) });
  await expect(storm.engine.embed("a")).rejects.toMatchObject({ code: "device-lost" });
  expect(await storm.engine.tokenize("x")).toEqual(Uint32Array.of(7)); // the engine stays
});

test("an engine whose Worker stops for the fourth time in ten minutes ends", async () => {
  const workers: FakeWorker[] = [];
  vi.stubGlobal("Worker", function Worker() {
    workers.push(fakeWorker(new FakeModule({ ...RUNS, ...writer(bySeed) })));
    return workers.at(-1);
  });
  const engine = await open("https://x.invalid/m/", { worker: "https://x.invalid/worker.js", wasm: WASM });
  expect(engine.model).toEqual(FACTS.model);
  for (let stops = 1; stops <= 3; ++stops) {
    workers.at(-1)!.fail("killed");
    await engine.tokenize("x");
    expect(workers).toHaveLength(stops + 1);
  }
  workers.at(-1)!.fail("killed");
  await expect(engine.tokenize("x")).rejects.toMatchObject({ code: "crashed" });
  expect(workers).toHaveLength(4);
});

test("what says a text that comes part by part gets all of it again in a new Worker", async () => {
  const said: object[] = [];
  const speak = ({ text, first, last }: Record<string, unknown>) => {
    said.push({ text, first, last });
    if (said.length === 2) throw new TokamakError("crashed", "The engine has stopped: unreachable.");
    return { more: false, pieces: 1, cut: 0 };
  };
  const { engine } = await engineOver({ speak }, { speak });
  const parts = async function* () {
    yield "One. ";
    await soon(20);
    yield "Two. ";
    await soon(60);
    yield "Three.";
    await soon(20);
  };
  await engine.speak(parts());
  expect(said).toEqual([
    { text: "One. ", first: true, last: false },
    { text: "Two. ", first: false, last: false },
    { text: "One. Two. ", first: true, last: false },
    { text: "Three.", first: false, last: false },
    { text: "", first: false, last: true },
  ]);
});
