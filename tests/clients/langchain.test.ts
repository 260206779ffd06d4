// LangChain's client of OpenAI's protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HumanMessage, ToolMessage, type AIMessageChunk } from "@langchain/core/messages";
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { all, endsWith, middleOf, question, served, vectorsKey, weather } from "./served.ts";

const of = (url: string, apiKey = "none") => ({
  apiKey,
  maxRetries: 0,
  configuration: { baseURL: `${url}/v1` },
});
const chat = (more: object = {}) =>
  new ChatOpenAI({
    ...of(served.stories),
    model: "storyteller",
    maxTokens: 10,
    temperature: 0,
    ...more,
  });
const plain = await chat().invoke(question);
const scripted = new ChatOpenAI({ ...of(served.scripted), model: "scripted" }).bindTools([weather]);

test("a streamed message is the plain one", async () => {
  const chunks = await all(await chat().stream(question));
  assert.equal(chunks.map((chunk) => chunk.content).join(""), plain.content);
  assert(chunks.length > 5, "it did not come in pieces");
  assert.equal(plain.usage_metadata!.output_tokens, 10);
  const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
  assert.equal(whole.usage_metadata!.total_tokens, plain.usage_metadata!.total_tokens);
  assert.equal(whole.response_metadata.finish_reason, "length");
});

test("a stop text ends an answer and is no part of it", async () => {
  const whole = plain.content as string;
  const stop = middleOf(whole);
  const stopped = await chat().invoke(question, { stop: [stop] });
  assert.equal(stopped.content, whole.slice(0, whole.indexOf(stop)));
});

test("several questions are answered at once", async () => {
  const together = await chat().batch([question, "The queen was", question]);
  assert.equal(together[0]!.content, plain.content);
  assert.equal(together[2]!.content, plain.content);
  assert.notEqual(together[1]!.content, plain.content);
});

test("a call and its result go both ways", async () => {
  const asked = new HumanMessage("Will it rain in Paris?");
  const called = await scripted.invoke([asked]);
  assert.equal(called.tool_calls!.length, 1);
  const { name, args, id } = called.tool_calls![0]!;
  assert.equal(name, "weather");
  assert.deepEqual(args, { city: "Paris", days: 2 });
  const result = new ToolMessage({ tool_call_id: id!, content: "sunny" });
  const told = await scripted.invoke([asked, called, result]);
  assert.equal(told.content, "It is sunny in Paris 🙂 today.");
});

test("streamed calls are the plain ones", async () => {
  const chunks = await all(await scripted.stream("And in Oslo and Rome?"));
  const whole = chunks.reduce<AIMessageChunk>((sum, chunk) => sum.concat(chunk), chunks.shift()!);
  assert.deepEqual(
    whole.tool_calls!.map(({ name, args }) => ({ name, args })),
    [
      { name: "weather", args: { city: "Oslo" } },
      { name: "weather", args: { city: "Rome" } },
    ],
  );
});

test("completions and embeddings are there as well", async () => {
  const model = new OpenAI({
    ...of(served.stories),
    model: "storyteller",
    maxTokens: 8,
    temperature: 0,
  });
  const plain = await model.invoke("Once upon a time");
  assert.equal((await all(await model.stream("Once upon a time"))).join(""), plain);
  const vectors = new OpenAIEmbeddings({ ...of(served.vectors, vectorsKey), model: "vectors" });
  const [fox, queen] = await vectors.embedDocuments(["a fox", "a queen"]);
  assert.deepEqual(await vectors.embedQuery("a queen"), queen);
  assert.notDeepEqual(fox, queen);
});

test("a client may leave in the middle of an answer", async () => {
  await endsWith(async () => {
    const leave = new AbortController();
    const stream = await chat({ maxTokens: 400 }).stream(question, { signal: leave.signal });
    await assert.rejects(async () => {
      let chunks = 0;
      for await (const _ of stream) {
        if (++chunks === 3) leave.abort();
      }
    }, /abort/i);
  });
});

test("what is wrong is an error with the status and the field", async () => {
  await assert.rejects(chat({ temperature: 3 }).invoke(question), {
    status: 400,
    param: "temperature",
  });
  await assert.rejects(chat({ model: "no-model" }).invoke(question), { status: 404 });
  const keyless = new OpenAIEmbeddings({ ...of(served.vectors), model: "vectors" });
  await assert.rejects(keyless.embedQuery("a fox"), { status: 401 });
});
