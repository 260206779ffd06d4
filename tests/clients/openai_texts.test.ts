// OpenAI's own client, completions and embeddings.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { all, served, vectorsKey } from "./served.ts";

const clientOf = (url: string, apiKey = "none") =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const stories = clientOf(served.stories);
const vectors = clientOf(served.vectors, vectorsKey);

const request = { model: "storyteller", prompt: "Once upon a time", max_tokens: 8, seed: 3 };

const plain = await stories.completions.create(request);

test("a streamed completion is the plain one", async () => {
  const chunks = await all(
    await stories.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  assert.equal(
    chunks.map(({ choices }) => choices[0]?.text ?? "").join(""),
    plain.choices[0]!.text,
  );
  assert.equal(plain.choices[0]!.finish_reason, "length");
  assert.equal(plain.usage!.completion_tokens, 8);
  assert.equal(chunks.at(-1)!.usage!.total_tokens, plain.usage!.total_tokens);
});

test("each of several prompts has its completion, in order", async () => {
  const prompt = ["Once upon a time", "The king"];
  const together = await stories.completions.create({ ...request, prompt });
  const second = await stories.completions.create({ ...request, prompt: prompt[1]! });
  assert.deepEqual(
    together.choices.map(({ index }) => index),
    [0, 1],
  );
  assert.equal(together.choices[0]!.text, plain.choices[0]!.text);
  assert.equal(together.choices[1]!.text, second.choices[0]!.text);
});

test("echo puts the prompt in front", async () => {
  const { choices } = await stories.completions.create({ ...request, echo: true });
  assert.equal(choices[0]!.text, request.prompt + plain.choices[0]!.text);
});

test("logprobs have the form that completions have", async () => {
  const { choices } = await stories.completions.create({ ...request, logprobs: 2 });
  const { tokens, token_logprobs, top_logprobs, text_offset } = choices[0]!.logprobs!;
  assert.equal(tokens!.join(""), choices[0]!.text);
  assert.equal(tokens!.length, 8);
  assert.equal(token_logprobs!.length, 8);
  assert.equal(Object.keys(top_logprobs![0]!).length >= 2, true);
  assert.equal(text_offset!.length, 8);
});

test("embeddings are the same in base64, which the client asks for by itself", async () => {
  const input = ["a fox", "a queen"];
  const model = "vectors";
  const packed = await vectors.embeddings.create({ model, input });
  const floats = await vectors.embeddings.create({ model, input, encoding_format: "float" });
  assert.equal(packed.data.length, 2);
  for (const [index, { embedding }] of packed.data.entries()) {
    assert.equal(packed.data[index]!.index, index);
    assert.deepEqual(Array.from(embedding), floats.data[index]!.embedding.map(Math.fround));
    const length = Math.hypot(...embedding);
    assert(Math.abs(length - 1) < 1e-4, `its length is ${length}`);
  }
  assert.notDeepEqual(packed.data[0]!.embedding, packed.data[1]!.embedding);
  assert.equal(packed.usage.prompt_tokens, packed.usage.total_tokens);
});

test("embeddings have as many dimensions as were asked for", async () => {
  const { data } = await vectors.embeddings.create({
    model: "vectors",
    input: "a fox",
    dimensions: 8,
  });
  assert.equal(data[0]!.embedding.length, 8);
  await assert.rejects(
    vectors.embeddings.create({ model: "vectors", input: "a fox", dimensions: 0 }),
    (error) => error instanceof OpenAI.BadRequestError && error.param === "dimensions",
  );
});

test("a model of texts makes no embeddings, and says so", async () => {
  await assert.rejects(
    stories.embeddings.create({ model: "storyteller", input: "a fox" }),
    (error) => error instanceof OpenAI.BadRequestError,
  );
});

test("a server with keys answers nobody without one of them", async () => {
  for (const key of ["none", vectorsKey.slice(1), `${vectorsKey} `.repeat(2)]) {
    await assert.rejects(clientOf(served.vectors, key).models.list(), (error) => {
      assert(error instanceof OpenAI.AuthenticationError);
      assert.equal(error.code, "invalid_api_key");
      return true;
    });
  }
});
