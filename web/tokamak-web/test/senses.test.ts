// Images, recordings and sounds on their way between the page and a fake module.
import { expect, test } from "vitest";
import type { Segment } from "../src/api.ts";
import { Memory } from "../src/host/memory.ts";
import { open } from "../src/index.ts";
import { MadeSound } from "../src/made_sound.ts";
import { FakeModule, RUNS, WASM, fakeWorker, opened, plainWaiting } from "./fakes.ts";

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
  const module = new FakeModule({
    ...RUNS,
    codec: () => ({ rate: 22_050 }),
    speak: ({ id, text, seed }: { id: number; text: string; seed: number }) => {
      expect([text, typeof seed]).toEqual(["Hello.", "number"]);
      for (const samples of [[0.5, -0.5], [0.25]]) worker.start?.play(id, Float32Array.from(samples));
      worker.start?.play(id + 1, Float32Array.of(1));
      return { pieces: 1, cut: 0, frames: 1 };
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

test("samples that come a second time are not told again", () => {
  const told: number[][] = [];
  const sound = new MadeSound((samples) => told.push([...samples]));
  sound.add(Float32Array.of(1, 2, 3), 10);
  sound.repeat();
  sound.add(Float32Array.of(1, 2), 10);
  sound.add(Float32Array.of(3, 4), 10);
  expect(told).toEqual([[1, 2, 3], [4]]);
  expect(sound.end({ pieces: 1, cut: 0 }).samples).toEqual(Float32Array.of(1, 2, 3, 4));
});
