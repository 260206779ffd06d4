// Images, recordings and sounds on their way between the page and a fake module.
import { expect, test } from "vitest";
import type { Segment } from "../src/api.ts";
import { TokamakError } from "../src/errors.ts";
import { Memory } from "../src/host/memory.ts";
import { open } from "../src/index.ts";
import { MadeSound } from "../src/made_sound.ts";
import { FakeModule, RUNS, type Verbs, WASM, fakeWorker, opened, plainWaiting, soon } from "./fakes.ts";

const DONE = { finish: "end", stop: "", tokens: 0, seed: 1, promptTokens: 1, cachedTokens: 0, prefillSeconds: 0, decodeSeconds: 0 };

test("images of messages reach the module as addresses that hold their files", async () => {
  const { engine, module } = await opened({ generate: () => ({ request: 1 }), step: () => ({ more: false, events: [{ request: 1, done: DONE }] }) });
  const image = new Blob([Uint8Array.of(1, 2, 250)], { type: "image/png" });
  const text = { type: "text" as const, text: "What is it?" };
  await engine.chat([{ role: "user", content: [{ type: "image", image }, text] }], { maxTokens: 1 }).result;
  const { values } = module.calls.find(({ verb }) => verb === "generate")!;
  const part = { type: "image_url", image_url: { url: "data:image/png;base64,AQL6" } };
  expect(values).toMatchObject({ messages: [{ role: "user", content: [part, text] }] });
  const wrong = engine.chat([{ role: "user", content: [{ type: "image", image: "a.png" as never }] }]);
  await expect(wrong.result).rejects.toMatchObject({ code: "usage" });
});

test("a recording is read by the module as a file of floats, and its parts come as they are written", async () => {
  const samples = Float32Array.of(0.5, -0.25, 1);
  const heard: number[][] = [];
  const { engine, module, worker } = await opened({
    transcribe: ({ id, samples: count }: { id: number; samples: number }) => {
      const memory = new Memory();
      memory.attach({ buffer: new ArrayBuffer(64) });
      (module.files.imports(memory, plainWaiting).read as (...values: number[]) => number)(id, 0, 0, 4 * count);
      heard.push([...new Float32Array(memory.bytes(0, 4 * count).slice().buffer)]);
      worker.start?.event("segment", { id, start: 0, end: 1, text: "Hello" });
      worker.start?.event("segment", { id: id + 1, start: 0, end: 1, text: "of another recording" });
      return { text: "Hello", duration: 1, segments: [] };
    },
  });
  const segments: Segment[] = [];
  const found = await engine.transcribe(samples, { language: "en", onSegment: (one) => segments.push(one) });
  expect(heard).toEqual([[...samples]]);
  expect(found.text).toBe("Hello");
  expect(segments).toEqual([{ start: 0, end: 1, text: "Hello" }]);
  expect(module.calls.at(-1)?.values).toMatchObject({ language: "en", samples: 3 });
  await expect(engine.transcribe(new Blob([]))).rejects.toMatchObject({ code: "unsupported" });
});

test("a text is said: samples as they are made, all of them at the end, and the codec's rate", async () => {
  const parts = [[0.5, -0.5], [0.25]];
  const module = new FakeModule({
    ...RUNS,
    codec: () => ({ rate: 22_050 }),
    speak: ({ id, text, seed, first, last }: { id: number; text: string; seed: number; first: boolean; last: boolean }) => {
      expect([text, typeof seed, last]).toEqual([first ? "Hello." : "", "number", true]);
      const samples = parts.shift();
      if (samples) worker.start?.play(id, Float32Array.from(samples));
      worker.start?.play(id + 1, Float32Array.of(1));
      return { more: samples !== undefined, pieces: 1, cut: 0, frames: 1 };
    },
  });
  const worker = fakeWorker(module);
  const engine = await open("https://x.invalid/m/", { worker: worker as never, wasm: WASM, codec: "https://x.invalid/c/" });
  expect(module.calls.find(({ verb }) => verb === "codec")?.values).toMatchObject({ name: "fake", files: [{ name: "config.json" }] });
  const heard: [number[], number][] = [];
  const speech = await engine.speak("Hello.", { onSamples: (samples, rate) => heard.push([[...samples], rate]) });
  expect(heard).toEqual([[[0.5, -0.5], 22_050], [[0.25], 22_050]]);
  expect(speech).toEqual({ samples: Float32Array.of(0.5, -0.5, 0.25), rate: 22_050, pieces: 1, cut: 0 });
});

/** Says each part of a text that it is given, one sample for each character. */
async function speaking(more: Verbs = {}) {
  const said: object[] = [];
  const module = new FakeModule({
    ...RUNS,
    codec: () => ({ rate: 22_050 }),
    speak: ({ id, text, first, last }: { id: number; text: string; first: boolean; last: boolean }) => {
      said.push({ text, first, last });
      if (text !== "") {
        worker.start?.event("piece", { id, text });
        worker.start?.play(id, new Float32Array(text.length));
      }
      return { more: false, pieces: 1, cut: 0, frames: 1 };
    },
    ...more,
  });
  const worker = fakeWorker(module);
  const engine = await open("https://x.invalid/m/", { worker: worker as never, wasm: WASM, codec: "https://x.invalid/c/" });
  return { engine, module, said };
}

test("a text that comes part by part is said as far as it is there, and others wait for its end", async () => {
  const { engine, said } = await speaking();
  expect(engine.soundRate).toBe(22_050);
  const pieces: string[] = [];
  const parts = async function* () {
    yield "One. ";
    await soon(20);
    yield "Two. ";
    yield "Three.";
  };
  const open = engine.speak(parts(), { onPiece: (text) => pieces.push(text) });
  const other = engine.speak("Another.");
  expect((await open).samples.length).toBe(16);
  await other;
  expect(pieces.join("")).toBe("One. Two. Three.");
  expect(pieces[0]).toBe("One. ");
  expect(said[0]).toEqual({ text: "One. ", first: true, last: false });
  expect(said.slice(1, -1).every((one) => !(one as { first: boolean }).first)).toBe(true);
  expect(said.at(-1)).toEqual({ text: "Another.", first: true, last: true });
});

test("a text that fails or is cancelled while it comes ends what says it", async () => {
  const { engine } = await speaking();
  const failing = async function* () {
    yield "One. ";
    throw new Error("No more.");
  };
  await expect(engine.speak(failing())).rejects.toThrow("No more.");
  const abort = new AbortController();
  const endless = async function* () {
    yield "One. ";
    await new Promise(() => {});
  };
  const cut = engine.speak(endless(), { signal: abort.signal });
  await soon(20);
  abort.abort();
  await expect(cut).rejects.toMatchObject({ code: "cancelled" });
  expect((await engine.speak("Well.")).samples.length).toBe(5);

  // A module that never suspends hears of it as well.
  const cancelled = new TokamakError("cancelled", "speak was cancelled.");
  const tireless = await speaking({
    speak: (_: object, signal?: AbortSignal) => {
      if (signal?.aborted) throw cancelled;
      return { more: true };
    },
  });
  const again = new AbortController();
  const long = tireless.engine.speak("One.", { signal: again.signal });
  await soon(20);
  again.abort();
  await expect(long).rejects.toMatchObject({ code: "cancelled" });
});

test("a conversation's loop gets what is heard as a file, and gives the utterance as samples", async () => {
  const heard: number[][] = [];
  const { engine, module, worker } = await opened({
    talk_begin: () => ({}),
    talk_listen: ({ id, file, samples: count, played }: { id: number; file: number; samples: number; played: number }) => {
      const memory = new Memory();
      memory.attach({ buffer: new ArrayBuffer(64) });
      (module.files.imports(memory, plainWaiting).read as (...values: number[]) => number)(file, 0, 0, 4 * count);
      heard.push([...new Float32Array(memory.bytes(0, 4 * count).slice().buffer), played]);
      worker.start?.play(id, Float32Array.of(0.25, 0.5));
      return { task: "transcribe", idle: false, taken: count };
    },
    talk_heard: () => ({ task: "answer", idle: false, question: "Hello" }),
    talk_answer: () => ({ task: "listen", idle: true }),
  });
  const loop = await engine.talkLoop({ rate: 22_050, pause: 0.5 });
  expect(module.calls.at(-1)).toEqual({ verb: "talk_begin", values: { rate: 22_050, pause: 0.5 } });
  expect(await loop.listen(Float32Array.of(1, -1), 7)).toEqual({ task: "transcribe", idle: false, taken: 2, utterance: Float32Array.of(0.25, 0.5) });
  expect(heard).toEqual([[1, -1, 7]]);
  expect(await loop.heard("Hello")).toMatchObject({ task: "answer", question: "Hello" });
  await loop.answer({ piece: "Hi.", samples: 10, end: true });
  expect(module.calls.at(-1)).toEqual({ verb: "talk_answer", values: { piece: "Hi.", samples: 10, end: true } });
});

test("samples that come a second time are not told again", () => {
  const told: number[][] = [];
  const pieces: string[] = [];
  const sound = new MadeSound({ onSamples: (samples) => told.push([...samples]), onPiece: (text) => pieces.push(text) });
  sound.begin("One.");
  sound.add(Float32Array.of(1, 2, 3), 10);
  sound.repeat();
  sound.begin("One.");
  sound.add(Float32Array.of(1, 2), 10);
  sound.add(Float32Array.of(3, 4), 10);
  sound.begin("Two.");
  expect(told).toEqual([[1, 2, 3], [4]]);
  expect(pieces).toEqual(["One.", "Two."]);
  expect(sound.end({ pieces: 1, cut: 0 }).samples).toEqual(Float32Array.of(1, 2, 3, 4));
});
