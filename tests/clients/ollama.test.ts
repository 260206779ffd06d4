// Ollama's own client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Ollama } from "ollama";
import { all, ask, endsWith, middleOf, served, vectorsKey, weather } from "./served.ts";

const stories = new Ollama({ host: served.stories });
const scripted = new Ollama({ host: served.scripted });
const authorized = { Authorization: `Bearer ${vectorsKey}` };
const vectors = new Ollama({ host: served.vectors, headers: authorized });
const options = { num_predict: 10, seed: 5 };
const chat = { model: "storyteller", messages: ask, options };

const plain = await stories.chat(chat);

test("a streamed chat is the plain one", async () => {
  const parts = await all(await stories.chat({ ...chat, stream: true }));
  assert.equal(parts.map((part) => part.message.content).join(""), plain.message.content);
  assert.notEqual(plain.message.content, "");
  for (const last of [plain, parts.at(-1)!]) {
    assert.equal(last.done, true);
    assert.equal(last.done_reason, "length");
    assert.equal(last.eval_count, 10);
    assert(last.prompt_eval_count > 0);
    for (const time of [
      last.total_duration,
      last.load_duration,
      last.prompt_eval_duration,
      last.eval_duration,
    ]) {
      assert(Number.isInteger(time) && time >= 0, `a duration is ${time}`);
    }
  }
  assert.equal(parts[0]!.done, false);
});

test("a streamed generation is the plain one", async () => {
  const request = { model: "storyteller", prompt: "Once upon a time", raw: true, options };
  const plain = await stories.generate(request);
  const parts = await all(await stories.generate({ ...request, stream: true }));
  assert.equal(parts.map((part) => part.response).join(""), plain.response);
  assert.equal(plain.eval_count, 10);
});

test("without raw a generation is a chat of one turn", async () => {
  const { response } = await stories.generate({
    model: "storyteller:latest",
    prompt: ask[0]!.content,
    options,
  });
  assert.equal(response, plain.message.content);
});

test("a stop text ends an answer and is no part of it", async () => {
  const whole = plain.message.content;
  const stop = middleOf(whole);
  const stopped = await stories.chat({ ...chat, options: { ...options, stop: [stop] } });
  assert.equal(stopped.message.content, whole.slice(0, whole.indexOf(stop)));
  assert.equal(stopped.done_reason, "stop");
});

test("the model is listed, shown and running", async () => {
  const { models } = await stories.list();
  assert.equal(models[0]!.name, "storyteller");
  const shown = await stories.show({ model: "storyteller" });
  assert(shown.capabilities.includes("completion"));
  assert.equal(shown.details.family, "gemma3");
  assert.equal((await stories.ps()).models[0]!.name, "storyteller");
  assert.match((await stories.version()).version, /^\d+\.\d+/);
});

test("a call and its result go both ways", async () => {
  const messages = [{ role: "user", content: "Will it rain in Paris?" }];
  const asked = await scripted.chat({ model: "scripted", messages, tools: [weather] });
  const calls = asked.message.tool_calls!;
  assert.deepEqual(
    calls.map((call) => call.function.name),
    ["weather"],
  );
  assert.deepEqual(calls[0]!.function.arguments, { city: "Paris", days: 2 });
  const told = await scripted.chat({
    model: "scripted",
    tools: [weather],
    messages: [
      ...messages,
      asked.message,
      { role: "tool", tool_name: "weather", content: "sunny" },
    ],
  });
  assert.equal(told.message.content, "It is sunny in Paris 🙂 today.");
});

test("streamed calls are the plain ones", async () => {
  const parts = await all(
    await scripted.chat({
      model: "scripted",
      messages: [{ role: "user", content: "And in Oslo and Rome?" }],
      tools: [weather],
      stream: true,
    }),
  );
  const calls = parts.flatMap((part) => part.message.tool_calls ?? []);
  assert.deepEqual(
    calls.map((call) => call.function.arguments),
    [{ city: "Oslo" }, { city: "Rome" }],
  );
});

test("thinking stands beside the answer", async () => {
  const { message } = await scripted.chat({
    model: "scripted",
    messages: [{ role: "user", content: "Hello" }],
    think: true,
  });
  assert.equal(message.thinking, "The user greets me.");
  assert.equal(message.content, "Good morning.");
});

test("embeddings are those of OpenAI's protocol", async () => {
  const input = ["a fox", "a queen"];
  const { embeddings } = await vectors.embed({ model: "vectors", input });
  const response = await fetch(`${served.vectors}/v1/embeddings`, {
    method: "POST",
    headers: authorized,
    body: JSON.stringify({ input }),
  });
  const { data } = (await response.json()) as { data: { embedding: number[] }[] };
  assert.deepEqual(
    embeddings,
    data.map(({ embedding }) => embedding),
  );
});

test("a client may leave in the middle of an answer", async () => {
  await endsWith(async () => {
    const stream = await stories.chat({ ...chat, stream: true, options: { num_predict: 400 } });
    const reading = async () => {
      let parts = 0;
      for await (const _ of stream) {
        if (++parts === 3) stream.abort();
      }
    };
    await assert.rejects(reading, { name: "AbortError" });
  });
});

test("what is wrong is the client's error with the status", async () => {
  await assert.rejects(
    stories.chat({ ...chat, model: "no-model" }),
    (error: Error & { status_code?: number }) => {
      assert.equal(error.name, "ResponseError");
      assert.equal(error.status_code, 404);
      assert.match(error.message, /no-model/);
      return true;
    },
  );
  const hot = { ...chat, options: { temperature: 3 } };
  await assert.rejects(stories.chat(hot), {
    name: "ResponseError",
    status_code: 400,
    message: /temperature/,
  });
});

test("a server with keys answers nobody without one of them", async () => {
  await assert.rejects(new Ollama({ host: served.vectors }).list(), {
    name: "ResponseError",
    status_code: 401,
  });
});
