// OpenAI's own client and its chats.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { all, ask, endsWith, middleOf, served } from "./served.ts";

const client = new OpenAI({ baseURL: `${served.stories}/v1`, apiKey: "none", maxRetries: 0 });
const request = { model: "storyteller", messages: ask, max_tokens: 10, seed: 7 };
const answer = (more: object = {}) => client.chat.completions.create({ ...request, ...more });
const plain = await answer();

test("models are listed, one by one too", async () => {
  const models = await all(client.models.list());
  assert.deepEqual(
    models.map((model) => model.id),
    ["storyteller"],
  );
  assert.equal((await client.models.retrieve("storyteller")).object, "model");
  await assert.rejects(client.models.retrieve("no-model"), (error) => {
    assert(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, "model_not_found");
    return true;
  });
});

test("a streamed answer is the plain one", async () => {
  const chunks = await all(
    await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  assert.equal(text, plain.choices[0]!.message.content);
  assert.notEqual(text, "");
  assert.equal(chunks[0]!.choices[0]!.delta.role, "assistant");
  assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
  assert.equal(chunks.at(-2)!.choices[0]!.finish_reason, plain.choices[0]!.finish_reason);
  const { prompt_tokens, completion_tokens, total_tokens } = plain.usage!;
  assert.equal(completion_tokens, 10);
  assert.equal(prompt_tokens + completion_tokens, total_tokens);
  assert.equal(chunks.at(-1)!.usage!.total_tokens, total_tokens);
  assert.deepEqual(chunks.at(-1)!.choices, []);
});

test("the client's own gathering of a stream gives the plain answer", async () => {
  const stream = client.chat.completions.stream(request);
  let heard = "";
  stream.on("content", (delta) => (heard += delta));
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0]!.message.content, plain.choices[0]!.message.content);
  assert.equal(final.choices[0]!.finish_reason, "length");
  assert.equal(heard, plain.choices[0]!.message.content);
});

test("a seed repeats an answer, another one does not", async () => {
  const [again, other] = await Promise.all([answer(), answer({ seed: 8 })]);
  assert.equal(again.choices[0]!.message.content, plain.choices[0]!.message.content);
  assert.notEqual(other.choices[0]!.message.content, plain.choices[0]!.message.content);
});

test("answers without a seed differ, and so do their ids", async () => {
  const random = { ...request, seed: undefined, temperature: 1.5 };
  const answers = [await answer(random), await answer(random)];
  assert.equal(new Set(answers.map(({ id }) => id)).size, 2);
  assert.equal(new Set(answers.map(({ choices }) => choices[0]!.message.content)).size, 2);
});

test("a stop text ends an answer and is no part of it", async () => {
  const whole = plain.choices[0]!.message.content!;
  const stop = middleOf(whole);
  const stopped = await answer({ stop: [stop] });
  assert.equal(stopped.choices[0]!.message.content, whole.slice(0, whole.indexOf(stop)));
  assert.equal(stopped.choices[0]!.finish_reason, "stop");
  const streamed = await all(
    await client.chat.completions.create({ ...request, stop, stream: true }),
  );
  const text = streamed.map((chunk) => chunk.choices[0]!.delta.content ?? "").join("");
  assert.equal(text, stopped.choices[0]!.message.content);
});

test("several choices are several answers to a prompt that counts once", async () => {
  const three = await answer({ n: 3 });
  assert.deepEqual(
    three.choices.map((choice) => choice.index),
    [0, 1, 2],
  );
  const texts = three.choices.map((choice) => choice.message.content);
  assert.equal(texts[0], plain.choices[0]!.message.content);
  assert.equal(new Set(texts).size, 3);
  assert.equal(three.usage!.prompt_tokens, plain.usage!.prompt_tokens);
  const chunks = await all(
    await client.chat.completions.create({ ...request, n: 3, stream: true }),
  );
  const streamed = ["", "", ""];
  for (const { choices } of chunks) {
    for (const { index, delta } of choices) streamed[index] += delta.content ?? "";
  }
  assert.deepEqual(streamed, texts);
});

test("logprobs belong to the tokens of the answer", async () => {
  const { choices, usage } = await answer({ logprobs: true, top_logprobs: 2 });
  const content = choices[0]!.logprobs!.content!;
  assert.equal(content.length, usage!.completion_tokens);
  assert.equal(content.map(({ token }) => token).join(""), choices[0]!.message.content);
  for (const { logprob, top_logprobs } of content) {
    assert(logprob <= 0);
    assert.equal(top_logprobs.length, 2);
    assert(top_logprobs[0]!.logprob >= top_logprobs[1]!.logprob);
  }
});

test("an answer is JSON where that was asked for", async () => {
  const { choices } = await answer({ response_format: { type: "json_object" }, max_tokens: 20 });
  const { message, finish_reason } = choices[0]!;
  if (finish_reason === "stop") JSON.parse(message.content!);
  assert.match(message.content!, /^\{/);
});

test("a client may leave in the middle of an answer", async () => {
  await endsWith(async () => {
    const long = { ...request, max_tokens: 400, stream: true as const };
    const stream = await client.chat.completions.create(long);
    let chunks = 0;
    for await (const _ of stream) {
      if (++chunks === 3) stream.controller.abort();
    }
  });
});

test("what is wrong with a request is an error with its field", async () => {
  const wrong: [object, string, RegExp][] = [
    [{ temperature: 3 }, "temperature", /from 0 to 2/],
    [{ max_tokens: 0 }, "max_tokens", /0/],
    [{ messages: [] }, "messages", /./],
    [
      { messages: [{ role: "king", content: "x" }] },
      "messages",
      /^400 messages\[0\].role is "king"/,
    ],
    [{ stop: [1] }, "stop", /stop/],
    [{ top_logprobs: 3 }, "top_logprobs", /logprobs/],
  ];
  for (const [change, param, message] of wrong) {
    await assert.rejects(answer(change), (error) => {
      assert(error instanceof OpenAI.BadRequestError, `${JSON.stringify(change)}: ${error}`);
      assert.equal(error.param, param, `${JSON.stringify(change)}: ${error.message}`);
      assert.equal(error.type, "invalid_request_error");
      assert.match(error.message, message);
      assert(error.requestID);
      return true;
    });
  }
});

test("a prompt that is too long has a code of its own, streamed too", async () => {
  const messages = [{ role: "user", content: "word ".repeat(2000) }];
  for (const stream of [false, true]) {
    await assert.rejects(answer({ messages, stream }), (error) => {
      assert(error instanceof OpenAI.BadRequestError);
      assert.equal(error.code, "context_length_exceeded");
      assert.match(error.message, /512/);
      return true;
    });
  }
});

test("a model that is not there is not found", async () => {
  await assert.rejects(answer({ model: "no-model" }), (error) => {
    assert(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, "model_not_found");
    return true;
  });
});
