// Vectors, scores and logits; recordings and speech.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { DATA, GREEDY, ONCE, open, openStory, openTiny, PROGRAM, run, STORYTELLER } from "./shared.mjs";

const IDS = [3, 9, 27, 11, 5];
const folder = mkdtempSync(join(tmpdir(), "tokamak-node-"));
const story = await openStory();
const vectors = await open(STORYTELLER, { backend: "cpu", context: 128, pooling: "mean" });
after(async () => {
  await story.close();
  await vectors.close();
  rmSync(folder, { recursive: true });
});

function assertNear(found, expected, most) {
  assert.equal(found.length, expected.length);
  const largest = Math.max(...Array.from(found, (number, i) => Math.abs(number - expected[i])));
  assert.ok(largest <= most, `${largest} more than ${most}`);
}

test("embeds texts as the program does", async () => {
  const texts = ["A fox", "The sea"];
  const found = await vectors.embed(texts);
  assert.ok(found.every((row) => row instanceof Float32Array && row.length === vectors.model.dimensions));
  writeFileSync(join(folder, "texts"), texts.join("\n"));
  const command = `"$0" embed "$1" --pooling mean --backend cpu --json < "$2"`;
  const { stdout } = await run("sh", ["-c", command, PROGRAM, STORYTELLER, join(folder, "texts")]);
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ text }) => text), texts);
  // The program makes vectors of length one.
  for (const [i, row] of (await vectors.embed(texts, { normalize: true })).entries()) assertNear(row, lines[i].embedding, 1e-5);
  const [one] = await vectors.embed("A fox");
  assertNear(one, found[0], 1e-4);
  assert.deepEqual(await vectors.embed([]), []);
  assert.equal((await vectors.embed("A fox", { dimensions: 8 }))[0].length, 8);
});

test("tells which text is wrong", async () => {
  await assert.rejects(vectors.embed("A fox", { prompt: "no such prompt" }), { name: "TokamakError", message: /prompt/ });
  await assert.rejects(vectors.embed(["A fox ".repeat(500)]), { code: "invalid-input" });
  assert.equal((await vectors.embed(["A fox ".repeat(500)], { truncate: true })).length, 1);
  await assert.rejects(vectors.embed(["a\0b"]), { code: "invalid-input", message: /zero character at byte 1/ });
  await assert.rejects(vectors.embed([3]), { code: "usage", message: "text is no text." });
  await assert.rejects(story.embed("A fox"), { code: "unsupported" });
});

test("logits are those of each beginning", async () => {
  const tiny = await openTiny();
  const every = await tiny.logits(IDS, { all: true });
  assert.equal(every.length, IDS.length);
  for (const [i, row] of every.entries()) {
    const last = await tiny.logits(IDS.slice(0, i + 1));
    assert.ok(last instanceof Float32Array && last.length === tiny.model.vocabulary);
    assertNear(last, row, 1e-4);
  }
  await assert.rejects(tiny.logits([]), { message: /no tokens/ });
  await assert.rejects(tiny.logits([999]), { message: /999/ });
  await assert.rejects(tiny.logits([-1]), { code: "usage", message: "-1 is no token id." });
  await tiny.close();
});

test("logits name the next token", async () => {
  const ids = await story.tokenize(ONCE);
  const logits = await story.logits(ids);
  assert.equal(logits.indexOf(Math.max(...logits)), (await story.generate(ids, GREEDY).result).ids[0]);
});

test("a signal ends a long call within a step", async () => {
  const ids = await story.tokenize(ONCE.repeat(100));
  await assert.rejects(story.logits(ids, { all: true, signal: AbortSignal.timeout(1) }), { name: "TokamakError", code: "cancelled" });
  await assert.rejects(story.logits(ids, { signal: AbortSignal.abort() }), { code: "cancelled" });
  assert.equal(await story.generate(ONCE, GREEDY).text(), ", there lived a king who had three");
});

test("ranks documents, the best first", async () => {
  const engine = await open(join(DATA, "rerank", "cross_bert"), { backend: "cpu" });
  const documents = ["the fox", "a river", "an owl"];
  const ranked = await engine.rerank("a fox", documents);
  assert.deepEqual(ranked.map(({ index }) => index).sort(), [0, 1, 2]);
  assert.ok(ranked[0].score >= ranked[1].score && ranked[1].score >= ranked[2].score && ranked[0].score > ranked[2].score);
  const turned = await engine.rerank("a fox", [...documents].reverse(), { limit: 1 });
  assert.deepEqual(turned.map(({ index }) => index), [2 - ranked[0].index]);
  assert.deepEqual(await engine.rerank("a fox", []), []);
  await engine.close();
});

/** A recorded model in a folder of its own, with a tokenizer. */
function withTokenizer(name, tokenizer) {
  const own = join(folder, name);
  cpSync(join(DATA, "speech", name), own, { recursive: true, filter: (file) => !/^(golden|audio)/.test(basename(file)) });
  writeFileSync(join(own, "tokenizer.json"), JSON.stringify({ normalizer: null, post_processor: null, ...tokenizer }));
  return own;
}

test("writes down recordings", async () => {
  const words = Array.from({ length: 480 }, (_, id) => `<${id}>`);
  const flags = { special: false, normalized: false, lstrip: false, rstrip: false, single_word: false };
  const ears = await open(
    withTokenizer("whisper", {
      added_tokens: words.map((content, id) => ({ id, content, ...flags })),
      pre_tokenizer: null,
      decoder: null,
      model: { type: "BPE", vocab: Object.fromEntries(words.map((word, id) => [word, id])), merges: [] },
    }),
    { backend: "cpu" },
  );
  const file = join(DATA, "speech", "whisper", "audio0.wav");
  const seen = [];
  const options = { language: "en", fallback: false };
  const whole = await ears.transcribe(file, { ...options, format: "srt", onSegment: (segment) => seen.push(segment) });
  assert.equal(whole.language, "en");
  assert.ok(whole.text.length > 0 && whole.file.startsWith("1\n"));
  assert.deepEqual(seen.map(({ text }) => text), whole.segments.map(({ text }) => text));
  const bytes = readFileSync(file);
  for (const sound of [bytes, new Blob([bytes])]) assert.equal((await ears.transcribe(sound, options)).text, whole.text);
  assert.equal(typeof (await ears.transcribe(new Float32Array(16000), options)).text, "string");
  await assert.rejects(ears.transcribe(file, { ...options, onSegment: () => assert.fail("mine") }), /mine/);
  await assert.rejects(ears.transcribe(file, { format: "doc" }), { name: "TokamakError", message: /doc/ });
  await assert.rejects(ears.transcribe("no/such.wav"), { code: "invalid-input", message: /no\/such\.wav/ });

  const { openaiFetch } = await import("./shared.mjs");
  const form = new FormData();
  form.set("file", new Blob([bytes]), "audio0.wav");
  form.set("language", "en");
  const ask = (route) => openaiFetch(ears)(`https://tokamak.invalid/v1/audio/${route}`, { method: "POST", body: form });
  assert.equal(typeof (await (await ask("transcriptions")).json()).text, "string");
  form.set("response_format", "srt");
  assert.match(await (await ask("transcriptions")).text(), /^1\n/);
  form.set("response_format", "doc");
  const refused = await ask("transcriptions");
  assert.deepEqual([refused.status, (await refused.json()).error.param], [400, "response_format"]);
  await ears.close();
});

test("speaks", async () => {
  const letters = { 3: "\u0120" };
  for (let code = 33; code < 127; ++code) letters[code] = String.fromCharCode(code);
  const vocab = Object.fromEntries(Array.from({ length: 690 }, (_, id) => [letters[id] ?? `<${id}>`, id]));
  const mouth = await open(
    withTokenizer("kani_tts2", {
      added_tokens: [],
      decoder: { type: "ByteLevel" },
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
      model: { type: "BPE", vocab, merges: [] },
    }),
    { backend: "cpu", codec: join(DATA, "speech", "nanocodec") },
  );
  const parts = [];
  const { samples, rate, encode } = await mouth.speak("Hello", { seed: 1, maxTokens: 24, onSamples: (part) => parts.push(...part) });
  assert.ok(samples.length > 0 && rate > 8000);
  assert.deepEqual(parts, [...samples]);
  assert.equal(Buffer.from(await encode("wav")).toString("latin1", 0, 4), "RIFF");
  await assert.rejects(encode("doc"), { name: "TokamakError", message: /doc/ });
  await mouth.close();
});
