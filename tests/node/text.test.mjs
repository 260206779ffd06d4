// Text: generated, streamed, cancelled; tokens and chats.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { all, DATA, ENDLESS, GREEDY, ONCE, open, openStory, PROGRAM, run, seconds, STORYTELLER } from "./shared.mjs";

const story = await openStory();
after(() => story.close());

test("writes the story of the program and of the reference", async () => {
  const { cases } = JSON.parse(readFileSync(join(DATA, "storyteller", "golden.json"), "utf8"));
  const { prompt, greedy_text: expected } = cases[0];
  const text = await story.generate(prompt, { temperature: 0, maxTokens: 20 }).text();
  assert.ok(text.length > 40 && expected.startsWith(text), text);
  const { stdout } = await run(PROGRAM, ["run", STORYTELLER, "--backend", "cpu", "--temp", "0", "-n", "20", "-p", prompt]);
  assert.equal(stdout.trimEnd(), prompt + text);
});

test("streams pieces that are the text", async () => {
  const asked = story.generate(ONCE, { ...GREEDY, logprobs: 2 });
  const pieces = await all(asked);
  const result = await asked.result;
  assert.equal(pieces.map(({ text }) => text).join(""), result.text);
  assert.deepEqual(pieces.flatMap(({ ids }) => ids), result.ids);
  assert.equal(result.finish, "length");
  assert.equal(result.tokens, 8);
  assert.equal(result.promptTokens, (await story.tokenize(ONCE)).length);
  for (const { ids, logprobs } of pieces) {
    assert.deepEqual(logprobs.map(({ id }) => id), ids);
    for (const { id, logprob, top } of logprobs) {
      assert.equal(top.length, 2);
      assert.deepEqual({ id, logprob }, top[0], "greedy tokens are the likeliest");
      assert.ok(logprob <= 0);
    }
  }
  assert.deepEqual(await all(asked), [], "it has ended");
});

test("gives what was asked for and no more", async () => {
  const [piece] = await all(story.generate(ONCE, { ...GREEDY, maxTokens: 1 }));
  assert.deepEqual(Object.keys(piece), ["text", "ids"]);
  const { promptLogprobs, promptTokens } = await story.generate(ONCE, { ...GREEDY, logprobs: 1, promptLogprobs: true }).result;
  assert.equal(promptLogprobs.length, promptTokens - 1);
  assert.equal(promptLogprobs[0].top.length, 1);
});

test("the seed that a result has gives the same text again", async () => {
  const options = { temperature: 1, maxTokens: 12 };
  const first = await story.generate(ONCE, options).result;
  assert.ok(Number.isSafeInteger(first.seed));
  assert.equal(await story.generate(ONCE, { ...options, seed: first.seed }).text(), first.text);
  assert.notEqual((await story.generate(ONCE, options).result).seed, first.seed);
});

test("takes options of every kind", async () => {
  assert.equal((await story.generate(ONCE, { temperature: 0, maxTokens: 20, stop: "lived" }).result).stop, "lived");
  assert.equal(await story.generate(ONCE, { temperature: 0, maxTokens: 20, stop: ["zebra", " there"] }).text(), ",");
  const [comma] = (await story.generate(ONCE, GREEDY).result).ids;
  assert.notEqual((await story.generate(ONCE, { ...GREEDY, logitBias: { [comma]: -100 } }).result).ids[0], comma);
  assert.equal((await story.generate(ONCE, { ...GREEDY, endIds: [comma, 7] }).result).finish, "end");
  assert.ok(["yes", "no"].includes(await story.generate(ONCE, { choices: ["yes", "no"] }).text()));
  assert.equal(await story.generate(ONCE, { jsonSchema: { enum: ["red"] }, maxTokens: 16 }).text(), '"red"');
  const ids = await story.tokenize(ONCE);
  const expected = await story.generate(ONCE, GREEDY).text();
  assert.equal(await story.generate(ids, GREEDY).text(), expected);
  assert.equal(await story.generate([...ids], { ...GREEDY, topK: undefined }).text(), expected);
});

test("a signal ends a text with what there is", async () => {
  const control = new AbortController();
  const asked = story.generate(ONCE, { ...ENDLESS, signal: control.signal });
  const began = performance.now();
  for await (const _ of asked) control.abort();
  const { finish, tokens, text } = await asked.result;
  assert.equal(finish, "cancelled");
  assert.ok(tokens > 0 && tokens < 100 && text.length > 0, `${tokens} tokens`);
  assert.ok(seconds(began) < 5);
  const aborted = story.generate(ONCE, { ...ENDLESS, signal: AbortSignal.abort() });
  assert.equal((await aborted.result).finish, "cancelled");
});

test("leaving the loop cancels", async () => {
  const asked = story.generate(ONCE, ENDLESS);
  for await (const _ of asked) break;
  assert.equal((await asked.result).finish, "cancelled");
  const cancelled = story.generate(ONCE, ENDLESS);
  cancelled.cancel();
  assert.equal((await cancelled.result).finish, "cancelled");
  cancelled.cancel();
});

test("writes several texts at once", async () => {
  // Without it a step of several texts rounds differently from a step of one.
  const engine = await openStory({ batchInvariant: true });
  const seeds = [0, 1, 2, 3, 4, 5];
  const text = (seed) => engine.generate(ONCE, { maxTokens: 10, temperature: 1, seed }).text();
  const expected = [];
  for (const seed of seeds) expected.push(await text(seed));
  assert.ok(new Set(expected).size > 1);
  assert.deepEqual(await Promise.all(seeds.map(text)), expected);
  await engine.close();
});

test("the event loop goes on meanwhile", async () => {
  const ids = await story.tokenize(ONCE.repeat(60));
  let turns = 0;
  let isOver = false;
  const turn = () => {
    ++turns;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await story.logits(ids, { all: true });
  isOver = true;
  assert.ok(turns > 10, `${turns} turns`);
});

test("long requests are prepared by another thread, and are the same", async () => {
  const long = await openStory({ context: 2048 });
  const prompt = `${"The fox ran. ".repeat(400)}${ONCE}`;
  const text = await long.generate(prompt, GREEDY).text();
  assert.equal(text, await long.generate(await long.tokenize(prompt), GREEDY).text());
  const cancelled = long.generate(prompt, ENDLESS);
  cancelled.cancel();
  assert.equal((await cancelled.result).finish, "cancelled");
  await assert.rejects(long.generate(prompt, { ...GREEDY, grammar: "root ::= (" }).result, { code: "invalid-input" });
  const closing = long.generate(prompt, ENDLESS);
  const ended = closing.result.then(({ finish }) => finish, ({ code }) => code);
  await long.close();
  assert.ok(["cancelled", "usage"].includes(await ended));
});

test("chats by the model's template", async () => {
  const messages = [{ role: "user", content: "Hello" }];
  const prompt = await story.render(messages);
  assert.match(prompt, /user\nHello/);
  assert.ok(prompt.startsWith(await story.render(messages, { add_generation_prompt: false })));
  const plain = await story.chat(messages, GREEDY).result;
  assert.equal(plain.promptTokens, (await story.tokenize(prompt, { special: false })).length);
  for (const same of [
    story.chat([{ role: "user", content: "Hello", name: "me" }], GREEDY),
    story.chat(messages, { ...GREEDY, templateVariables: { unused: 1 } }),
    story.chat(messages, { ...GREEDY, tools: [] }),
  ]) {
    assert.equal(await same.text(), plain.text);
  }
});

test("tokens are text again", async () => {
  assert.equal(await story.detokenize(await story.tokenize("a fox", { special: false })), "a fox");
  assert.deepEqual(await story.tokenize("", { special: false }), new Uint32Array());
});

test("images stand in their message", async () => {
  const image = join(DATA, "images", "wide.png");
  const bytes = await readFile(image);
  const url = `data:image/png;base64,${bytes.toString("base64")}`;
  const engine = await open(join(DATA, "vision", "qwen3_5_vl_images"), { backend: "cpu", context: 128, megapixels: 1 / 16 });
  const ask = (part) => engine.chat([{ role: "user", content: [part, { type: "text", text: "What is it?" }] }], GREEDY).result;
  const { ids, promptTokens } = await ask({ type: "image", image });
  assert.ok(promptTokens > (await engine.chat([{ role: "user", content: "What is it?" }], GREEDY).result).promptTokens);
  for (const given of [bytes, new Blob([bytes]), pathToFileURL(image)]) {
    assert.deepEqual((await ask({ type: "image", image: given })).ids, ids);
  }
  assert.deepEqual((await ask({ type: "image_url", image_url: { url } })).ids, ids);
  await assert.rejects(ask({ type: "image_url", image_url: { url: "https://a.b/c.png" } }).catch((error) => Promise.reject(error)), {
    code: "invalid-input",
    message: /data:/,
  });
  await assert.rejects(ask({ type: "image", image: `${image}.none` }), { code: "invalid-input", message: /wide\.png\.none/ });
  const named = [{ role: "user", name: "me", content: [{ type: "image", image }] }];
  await assert.rejects(engine.chat(named, GREEDY).result, { code: "usage", message: /plain messages only/ });
  await engine.close();
});
