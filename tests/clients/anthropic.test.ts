// Anthropic's own client.
import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import {
  all,
  ask,
  endsWith,
  middleOf,
  served,
  vectorsKey,
  weather,
  weatherParameters,
} from "./served.ts";

const clientOf = (baseURL: string, apiKey = "none") =>
  new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const stories = clientOf(served.stories);
const scripted = clientOf(served.scripted);
// The client's types have no temperature any more; it sends what they do not have all the same.
const request = { model: "storyteller", messages: ask, max_tokens: 10, temperature: 0 };
const tool = {
  name: "weather",
  description: weather.function.description,
  input_schema: weatherParameters,
};

const textOf = (message: Anthropic.Message) =>
  message.content.map((block) => (block.type === "text" ? block.text : "")).join("");

const plain = await stories.messages.create(request);

test("a streamed message is the plain one, event by event", async () => {
  const events = await all(await stories.messages.create({ ...request, stream: true }));
  assert.equal(plain.type, "message");
  assert.equal(plain.role, "assistant");
  assert.equal(plain.stop_reason, "max_tokens");
  assert.equal(plain.usage.output_tokens, 10);
  const pieces = events.map((event) =>
    event.type === "content_block_delta" && event.delta.type === "text_delta"
      ? event.delta.text
      : "",
  );
  assert.equal(pieces.join(""), textOf(plain));
  const types = events.map((event) => event.type).filter((type) => type !== "content_block_delta");
  assert.deepEqual(types, [
    "message_start",
    "content_block_start",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("the client's own gathering of a stream gives the plain message", async () => {
  const final = await stories.messages.stream(request).finalMessage();
  assert.deepEqual(final.content, plain.content);
  assert.equal(final.stop_reason, plain.stop_reason);
  assert.equal(final.usage.output_tokens, plain.usage.output_tokens);
  const all = ({ input_tokens, cache_read_input_tokens }: Anthropic.Usage) =>
    input_tokens + (cache_read_input_tokens ?? 0);
  assert.equal(all(final.usage), all(plain.usage));
});

test("the answer is the one that OpenAI's protocol gives", async () => {
  const message = await stories.messages.create({ ...request, system: "Be brief." });
  const response = await fetch(`${served.stories}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({
      messages: [{ role: "system", content: "Be brief." }, ...ask],
      max_tokens: 10,
      temperature: 0,
    }),
  });
  const chat = (await response.json()) as OpenAIAnswer;
  assert.equal(textOf(message), chat.choices[0]!.message.content);
  assert.equal(
    message.usage.input_tokens + message.usage.cache_read_input_tokens!,
    chat.usage.prompt_tokens,
  );
});
type OpenAIAnswer = {
  choices: { message: { content: string } }[];
  usage: { prompt_tokens: number };
};

test("a stop sequence ends a message and is named", async () => {
  const whole = textOf(plain);
  const stop = middleOf(whole);
  const stopped = await stories.messages.create({
    ...request,
    stop_sequences: ["never there", stop],
  });
  assert.equal(textOf(stopped), whole.slice(0, whole.indexOf(stop)));
  assert.equal(stopped.stop_reason, "stop_sequence");
  assert.equal(stopped.stop_sequence, stop);
});

test("tokens are counted without an answer", async () => {
  const { input_tokens } = await stories.messages.countTokens({
    model: "storyteller",
    messages: ask,
  });
  assert.equal(input_tokens, plain.usage.input_tokens + plain.usage.cache_read_input_tokens!);
});

test("a call and its result go both ways", async () => {
  const paris = { role: "user" as const, content: "Will it rain in Paris?" };
  const shared = { model: "scripted", max_tokens: 100, tools: [tool] };
  const asked = await scripted.messages.create({ ...shared, messages: [paris] });
  assert.equal(asked.stop_reason, "tool_use");
  const call = asked.content.find((block) => block.type === "tool_use")!;
  assert.equal(call.name, "weather");
  assert.deepEqual(call.input, { city: "Paris", days: 2 });
  const told = await scripted.messages.create({
    ...shared,
    messages: [
      paris,
      { role: "assistant", content: asked.content as Anthropic.ContentBlockParam[] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] },
    ],
  });
  assert.equal(textOf(told), "It is sunny in Paris 🙂 today.");
  assert.equal(told.stop_reason, "end_turn");
});

test("streamed calls are the plain ones", async () => {
  const request = {
    model: "scripted",
    max_tokens: 100,
    tools: [tool],
    messages: [{ role: "user" as const, content: "And in Oslo and Rome?" }],
  };
  const final = await scripted.messages.stream(request).finalMessage();
  const inputs = final.content.map((block) => block.type === "tool_use" && block.input);
  assert.deepEqual(inputs, [{ city: "Oslo" }, { city: "Rome" }]);
  assert.equal(final.stop_reason, "tool_use");
});

test("reasoning is a block of its own, streamed too", async () => {
  const request = {
    model: "scripted",
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "Hello" }],
  };
  const plain = await scripted.messages.create(request);
  const final = await scripted.messages.stream(request).finalMessage();
  for (const { content } of [plain, final]) {
    const texts = content.map((block) =>
      block.type === "thinking" ? block.thinking : block.type === "text" && block.text,
    );
    assert.deepEqual(texts, ["The user greets me.", "Good morning."]);
    assert.equal(content[0]!.type, "thinking");
  }
});

test("a client may leave in the middle of a message", async () => {
  await endsWith(async () => {
    const stream = stories.messages.stream({ ...request, max_tokens: 400 });
    await assert.rejects(async () => {
      let events = 0;
      for await (const _ of stream) {
        if (++events === 4) stream.abort();
      }
    }, Anthropic.APIUserAbortError);
  });
});

test("what is wrong is one of the client's typed errors", async () => {
  const hot = { ...request, temperature: 3 };
  await assert.rejects(stories.messages.create(hot), (error) => {
    assert(error instanceof Anthropic.BadRequestError);
    assert.equal(error.type, "invalid_request_error");
    assert.match(error.message, /temperature/);
    return true;
  });
  await assert.rejects(
    stories.messages.create({ ...request, model: "no-model" }),
    (error) => error instanceof Anthropic.NotFoundError && error.type === "not_found_error",
  );
  const withoutLength = { model: "storyteller", messages: ask } as never;
  await assert.rejects(stories.messages.create(withoutLength), (error) => {
    assert(error instanceof Anthropic.BadRequestError);
    assert.match(error.message, /max_tokens/);
    return true;
  });
});

test("a server with keys answers nobody without one of them", async () => {
  await assert.rejects(
    clientOf(served.vectors).messages.create(request),
    (error) =>
      error instanceof Anthropic.AuthenticationError && error.type === "authentication_error",
  );
  // With the key it is a model without chats.
  await assert.rejects(
    clientOf(served.vectors, vectorsKey).messages.create({ ...request, model: "vectors" }),
    Anthropic.BadRequestError,
  );
});
