// The other models than those of text, with the real module: images that the browser decodes give the tokens that
// transformers recorded, recordings the transcripts of a native program, and encoders their vectors and ranks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Segment, TranscribeOptions, Transcript } from "tokamak-web";
import { build } from "vite";
import type { imageImports } from "../tokamak-web/src/host/image.ts";
import { expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

interface Chat {
  ids: number[];
  images: string[];
  greedy: { ids: number[] };
}

const read = <T>(name: string) => JSON.parse(readFileSync(join(DATA, name), "utf8")) as T;

/** The prompt as it is written: one placeholder for each image, of which the recorded one has a row each. */
const written = (ids: number[], placeholder: number) =>
  ids.filter((id, at) => id !== placeholder || ids[at - 1] !== placeholder);

for (const [name, wait] of [["qwen3_5_vl_images", "jspi"], ["gemma3_vl", "asyncify"], ["gemma4_vl", "jspi"]] as const) {
  test(`${name} says of images what was recorded (${wait})`, async ({ context, server }) => {
    const folder = `vision/${name}`;
    const config = read<Record<string, number>>(`${folder}/config.json`);
    const placeholder = config["image_token_id"] ?? config["image_token_index"]!;
    const chats = read<{ chats: Chat[] }>(`${folder}/golden.json`).chats.map(({ ids, images, greedy }) => ({
      ids: written(ids, placeholder),
      images,
      expected: greedy.ids,
    }));
    expect(chats.some(({ images }) => images.some((file) => file.endsWith(".png")))).toBe(true);
    const page = await context.newPage();
    await page.goto(`${server.address}tiny/config.json`);
    const said = await page.evaluate(
      async ({ address, folder, chats, wait }) => {
        const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
        const options = { backend: "cpu", cache: "none", context: 256, megapixels: 1 / 16, wait } as const;
        const engine = await open(`${address}data/${folder}/`, options);
        const found: number[][] = [];
        for (const { ids, images, expected } of chats) {
          const files = await Promise.all(images.map(async (file) => (await fetch(`${address}data/images/${file}`)).blob()));
          const run = engine.generate(ids, { images: files, maxTokens: expected.length, temperature: 0 });
          found.push((await run.result).ids);
        }
        await engine.close();
        return { found, sees: engine.model.sees };
      },
      { address: server.address, folder, chats, wait },
    );
    expect(said).toEqual({ found: chats.map(({ expected }) => expected), sees: true });
  });
}

test("a chat with an image is answered alike by engine.chat and by the OpenAI-shaped API", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const png = readFileSync(join(DATA, "images/wide.png")).toString("base64");
  const found = await page.evaluate(
    async ({ address, url }) => {
      const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
      const { openaiFetch } = (await import(`${address}package/openai.js`)) as typeof import("tokamak-web/openai");
      const engine = await open(`${address}data/vision/qwen3_5_vl_images/`, { backend: "cpu", cache: "none", context: 128 });
      const text = { type: "text", text: "What is it?" } as const;
      const image = await createImageBitmap(await (await fetch(url)).blob());
      const run = engine.chat([{ role: "user", content: [{ type: "image", image }, text] }], { maxTokens: 8, temperature: 0 });
      const { text: said, promptTokens } = await run.result;
      const ask = async (url: string) => {
        const content = [{ type: "image_url", image_url: { url } }, text];
        const body = JSON.stringify({ messages: [{ role: "user", content }], max_tokens: 8, temperature: 0 });
        return (await openaiFetch(engine)("https://tokamak.invalid/v1/chat/completions", { method: "POST", body })).json();
      };
      const answer = await ask(url);
      const broken = await ask("data:image/png;base64,AAAA");
      const textOnly = await open(`${address}data/vision/qwen3_5_vl_images/`, { backend: "cpu", cache: "none", context: 128, megapixels: 0 });
      const refused = await textOnly.chat([{ role: "user", content: [{ type: "image", image }] }]).result.catch(({ message }) => message as string);
      return { said, promptTokens, answer, broken, refused };
    },
    { address: server.address, url: `data:image/png;base64,${png}` },
  );
  expect(found.promptTokens).toBe(39);
  expect(found.answer.choices[0].message.content).toBe(found.said);
  expect(found.answer.usage.prompt_tokens).toBe(39);
  expect(found.broken.error.message).toContain("The browser cannot read the image");
  expect(found.refused).toContain("was opened for text only");
});

test("a text is said as by a native program, piece by piece", async ({ context, server }) => {
  // `tokamak speak --seed 7` of the same files: 16 bits, from sample 300 on each 700th.
  const SAID = { rate: 22_050, count: 5985, samples: [-1953, -26458, -32767, 0, 0, 0, 0, -16009, -10943] };
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const found = await page.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const options = { backend: "cpu", cache: "none" } as const;
    const notices: string[] = [];
    const phases = new Set<string>();
    const engine = await open(`${address}speaking/`, {
      cache: "none", // by itself on the processor, since there is no GPU
      codec: `${address}data/speech/nanocodec/`,
      onNotice: (text) => notices.push(text),
      onProgress: ({ phase }) => phases.add(phase),
    });
    const parts: number[] = [];
    const onSamples = (samples: Float32Array) => parts.push(samples.length);
    const { samples, ...speech } = await engine.speak("Good day. It is late.", { seed: 7, onSamples });
    const silent = await open(`${address}speaking/`, options);
    const refused = await silent.speak("Good day.").catch(({ message }) => message as string);
    await engine.close();
    await silent.close();
    return { ...speech, samples: [...samples], parts, refused, speaks: engine.model.speaks, notices, phases: [...phases] };
  }, server.address);
  expect([found.rate, found.samples.length, found.pieces, found.cut, found.speaks]).toEqual([SAID.rate, SAID.count, 2, 0, true]);
  expect(found.notices).toEqual([expect.stringMatching(/^No GPU found: running on the processor/)]);
  expect(found.phases.slice(-2)).toEqual(["warm-up", "ready"]);
  expect(found.parts.length).toBeGreaterThan(1);
  expect(found.parts.reduce((sum, count) => sum + count)).toBe(SAID.count);
  for (const [at, expected] of SAID.samples.entries()) {
    expect(Math.abs(found.samples[300 + 700 * at]! * 32_768 - expected)).toBeLessThan(4);
  }
  expect(found.refused).toContain("without a codec");
});

test("vectors are the recorded ones, and documents are ranked as natively", async ({ context, server }) => {
  const { cases } = read<{ cases: { ids: number[]; embedding: number[] }[] }>("embeddings/minilm/golden.json");
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const documents = ["a fox is red", "the sea is blue", "foxes are animals"];
  const found = await page.evaluate(
    async ({ address, inputs, documents }) => {
      const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
      const { openaiFetch } = (await import(`${address}package/openai.js`)) as typeof import("tokamak-web/openai");
      const ask = async (model: string, options: object, path: string, body: object) => {
        const engine = await open(`${address}data/${model}/`, { backend: "cpu-reference", cache: "none", ...options });
        const answer = await openaiFetch(engine)(`https://tokamak.invalid/v1/${path}`, { method: "POST", body: JSON.stringify(body) });
        const json = await answer.json();
        await engine.close();
        return json;
      };
      const rank = async (query: string, documents: string[]) => {
        const engine = await open(`${address}data/rerank/cross_bert/`, { backend: "cpu-reference", cache: "none" });
        const all = await engine.rerank(query, documents);
        const best = await engine.rerank(query, documents, { limit: 1 });
        await engine.close();
        return { all, best };
      };
      return {
        vectors: await ask("embeddings/minilm", { pooling: "mean" }, "embeddings", { input: inputs }),
        ranks: await ask("rerank/cross_bert", {}, "rerank", { query: "what is a fox", documents }),
        ranked: await rank("what is a fox", documents),
      };
    },
    { address: server.address, inputs: cases.map(({ ids }) => ids), documents },
  );
  const vectors = found.vectors.data as { embedding: number[] }[];
  expect(vectors).toHaveLength(cases.length);
  for (const [at, { embedding }] of cases.entries()) {
    expect(Math.max(...embedding.map((value, i) => Math.abs(value - vectors[at]!.embedding[i]!)))).toBeLessThan(1e-5);
  }
  // The scores of `tokamak rerank`.
  const RANKED = [[1, 0.24158649], [2, 0.21929014], [0, 0.19451867]] as const;
  const ranks = found.ranks.results as { index: number; relevance_score: number }[];
  expect(ranks.map(({ index }) => index)).toEqual(RANKED.map(([index]) => index));
  for (const [at, [, score]] of RANKED.entries()) expect(ranks[at]!.relevance_score).toBeCloseTo(score, 5);
  const { all, best } = found.ranked;
  expect(all).toEqual(ranks.map(({ index, relevance_score: score }) => ({ index, score })));
  expect(best).toEqual(all.slice(0, 1));
});

/** A file of the package's sources as a script that sets `own`. */
async function script(file: string): Promise<string> {
  const entry = join(import.meta.dirname, "../tokamak-web/src", file);
  const output = await build({
    configFile: false,
    logLevel: "error",
    build: { write: false, target: "es2023", lib: { entry, formats: ["iife"], name: "own" } },
  });
  const [{ output: [chunk] }] = output as unknown as [{ output: [{ code: string }] }];
  return chunk.code;
}
declare const own: { imageImports: typeof imageImports };

test("images are decoded as natively, those with transparent pixels too", async ({ context, server }) => {
  interface Recorded {
    file: string;
    size_wh: number[];
    rgb_sha256: string;
  }
  // Pillow clips gray of 16 bits: what is recorded of that one is white.
  const images = read<{ images: Recorded[] }>("images/golden.json").images.filter(({ file }) => file !== "gray16.png");
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  await page.addScriptTag({ content: await script("host/image.ts") });
  const found = await page.evaluate(
    async ({ address, images }) => {
      const buffer = new ArrayBuffer(1 << 20);
      const memory = {
        bytes: (at: number, count: number) => new Uint8Array(buffer, at, count),
        numbers: (at: number, count: number) => new Uint32Array(buffer, at, count),
      };
      type Call = (...values: number[]) => Promise<number>;
      const waiting = { suspending: (wait: unknown) => wait as WebAssembly.ImportValue };
      const imports = own.imageImports(memory as never, waiting) as unknown as { decode: Call; pixels: Call };
      const FILE = 16;
      const found: unknown[] = [];
      for (const { file } of images) {
        const bytes = await (await fetch(`${address}data/images/${file}`)).bytes();
        memory.bytes(FILE, bytes.length).set(bytes);
        const isRead = await imports.decode(FILE, bytes.length, 0);
        const [width = 0, height = 0] = memory.numbers(0, 2);
        const isWritten = await imports.pixels(FILE);
        const hash = await crypto.subtle.digest("SHA-256", memory.bytes(FILE, 3 * width * height).slice());
        found.push([isRead, isWritten, width, height, [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("")]);
      }
      return found;
    },
    { address: server.address, images },
  );
  expect(found).toEqual(images.map(({ size_wh, rgb_sha256 }) => [1, 1, ...size_wh, rgb_sha256]));
});

test("recordings become the transcripts of a native program", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const hear = (model: string, file: string, options: TranscribeOptions, wait: "jspi" | "asyncify" = "jspi") =>
    page.evaluate(
      async ({ address, model, file, options, wait }) => {
        const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
        const engine = await open(`${address}${model}/`, { backend: "cpu", cache: "none", wait });
        const wav = await (await fetch(`${address}${model}/${file}`)).arrayBuffer();
        const samples = Float32Array.from(new Int16Array(wav, 44), (sample) => sample / 32768);
        const parts: Segment[] = [];
        const transcript = await engine.transcribe(samples, { ...options, onSegment: (part) => parts.push(part) });
        const ofFile = await engine.transcribe(new Blob([wav]), options);
        await engine.close();
        return { transcript, ofFile, parts: parts.length, hears: engine.model.hears };
      },
      { address: server.address, model, file, options, wait },
    );
  const tokensOf = ({ segments }: Transcript) => segments.map(({ tokens }) => tokens);

  const moonshine = await hear("data/speech/moonshine", "audio1.wav", {});
  const { cases } = read<{ cases: { wav: string; greedy: { ids: number[] } }[] }>("speech/moonshine/golden.json");
  expect(tokensOf(moonshine.transcript)).toEqual([cases.find(({ wav }) => wav === "audio1.wav")?.greedy.ids]);
  // Chromium divides samples above 0 by 32767.
  expect(tokensOf(moonshine.ofFile)).toEqual(tokensOf(moonshine.transcript));
  expect([moonshine.transcript.duration, moonshine.parts, moonshine.hears]).toEqual([2.4, 1, true]);

  // The transcript of `tokamak transcribe`: it repeats itself, so that it is decoded again at higher temperatures.
  const whisper = await hear("hearing", "audio0.wav", {});
  expect(tokensOf(whisper.transcript)).toEqual([[139], [142]]);
  expect(whisper.transcript).toMatchObject({ duration: 1, language: "en" });
  expect(whisper.transcript.segments).toMatchObject([
    { start: 0.66, end: 0.8, temperature: 1, compression_ratio: 2.070175 },
    { start: 1, end: 1, temperature: 1, compression_ratio: 2.070175 },
  ]);
  expect(whisper.parts).toBe(2);
  expect((await hear("hearing", "audio0.wav", {}, "asyncify")).transcript).toEqual(whisper.transcript);
  const once = await hear("hearing", "audio0.wav", { fallback: false, timestamps: false });
  expect(tokensOf(once.transcript)[0]?.slice(0, 8)).toEqual([54, 244, 244, 77, 77, 77, 77, 244]);
});
