// Vercel's AI SDK with its provider for servers that speak OpenAI's protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, embedMany, generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import { all, endsWith, middleOf, question, served, vectorsKey } from "./served.ts";

const provider = (url: string, apiKey = "none") =>
  createOpenAICompatible({ name: "tokamak", baseURL: `${url}/v1`, apiKey, includeUsage: true });
const stories = provider(served.stories)("storyteller");
const scripted = provider(served.scripted)("scripted");
const request = { model: stories, prompt: question, maxOutputTokens: 10, seed: 7, maxRetries: 0 };

const plain = await generateText(request);

const weather = tool({
  description: "What the weather will be in a city.",
  inputSchema: z.object({ city: z.string(), days: z.number().int().optional() }),
  execute: async ({ city }) => (city === "Paris" ? "sunny" : "unknown"),
});

test("a streamed text is the plain one", async () => {
  const stream = streamText(request);
  const pieces = await all(stream.textStream);
  assert.equal(pieces.join(""), plain.text);
  assert(pieces.length > 5, "it did not come in pieces");
  assert.equal(plain.finishReason, "length");
  assert.equal(await stream.finishReason, "length");
  assert.equal(plain.usage.outputTokens, 10);
  const usage = await stream.usage;
  assert.equal(usage.outputTokens, 10);
  assert.equal(usage.inputTokens, plain.usage.inputTokens);
});

test("a stop sequence ends a text and is no part of it", async () => {
  const whole = plain.text;
  const stop = middleOf(whole);
  const stopped = await generateText({ ...request, stopSequences: [stop] });
  assert.equal(stopped.text, whole.slice(0, whole.indexOf(stop)));
  assert.equal(stopped.finishReason, "stop");
});

test("the loop calls the tool and ends with the answer, streamed too", async () => {
  const steps = {
    model: scripted,
    prompt: "Will it rain in Paris?",
    tools: { weather },
    stopWhen: isStepCount(3),
  };
  const plain = await generateText(steps);
  assert.equal(plain.text, "It is sunny in Paris 🙂 today.");
  assert.equal(plain.steps.length, 2);
  assert.deepEqual(plain.steps[0]!.toolCalls[0]!.input, { city: "Paris", days: 2 });
  const stream = streamText(steps);
  assert.equal((await all(stream.textStream)).join(""), plain.text);
  assert.equal((await stream.steps)[0]!.toolCalls[0]!.toolName, "weather");
});

test("two calls come in one step", async () => {
  const { toolCalls } = await generateText({
    model: scripted,
    prompt: "And in Oslo and Rome?",
    tools: { weather },
  });
  assert.deepEqual(
    toolCalls.map(({ input }) => input),
    [{ city: "Oslo" }, { city: "Rome" }],
  );
});

test("reasoning stands beside the text", async () => {
  const plain = await generateText({ model: scripted, prompt: "Hello" });
  assert.equal(plain.text, "Good morning.");
  assert.equal(plain.reasoningText, "The user greets me.");
  const stream = streamText({ model: scripted, prompt: "Hello" });
  await stream.consumeStream();
  assert.equal(await stream.reasoningText, plain.reasoningText);
});

test("embeddings come in the order of their texts", async () => {
  const model = provider(served.vectors, vectorsKey).embeddingModel("vectors");
  const { embeddings } = await embedMany({ model, values: ["a fox", "a queen"] });
  const { embeddings: turned } = await embedMany({ model, values: ["a queen", "a fox"] });
  assert.deepEqual(turned, embeddings.toReversed());
});

test("a client may leave in the middle of a text", async () => {
  await endsWith(async () => {
    const leave = new AbortController();
    const stream = streamText({ ...request, maxOutputTokens: 400, abortSignal: leave.signal });
    let pieces = 0;
    for await (const _ of stream.textStream) {
      if (++pieces === 3) leave.abort();
    }
  });
});

test("what is wrong is an error with the server's sentence", async () => {
  await assert.rejects(generateText({ ...request, temperature: 3 }), (error) => {
    assert(APICallError.isInstance(error));
    assert.equal(error.statusCode, 400);
    assert.match(error.message, /temperature/);
    assert.equal(error.isRetryable, false);
    return true;
  });
  const model = provider(served.stories)("no-model");
  await assert.rejects(
    generateText({ ...request, model }),
    (error) => APICallError.isInstance(error) && error.statusCode === 404,
  );
  const keyless = provider(served.vectors).embeddingModel("vectors");
  await assert.rejects(
    embedMany({ model: keyless, values: ["a fox"], maxRetries: 0 }),
    (error) => APICallError.isInstance(error) && error.statusCode === 401,
  );
});
