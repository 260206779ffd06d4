// Answers that are held to a schema, as each client asks for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, Output } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { ask, question, served } from "./served.ts";

// Whatever the model is about to say, these are the only answers.
const Fox = z.object({ mood: z.enum(["glad", "sad"]), hungry: z.boolean() });
const baseURL = `${served.stories}/v1`;

test("openai", async () => {
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const { choices } = await client.chat.completions.parse({
    model: "storyteller",
    messages: ask,
    response_format: zodResponseFormat(Fox, "fox"),
  });
  Fox.parse(choices[0]!.message.parsed);
  assert.equal(choices[0]!.finish_reason, "stop");
});

test("AI SDK", async () => {
  const provider = createOpenAICompatible({
    name: "tokamak",
    baseURL,
    supportsStructuredOutputs: true,
  });
  const { output } = await generateText({
    model: provider("storyteller"),
    prompt: question,
    output: Output.object({ schema: Fox }),
    maxRetries: 0,
  });
  Fox.parse(output);
});

test("LangChain", async () => {
  const model = new ChatOpenAI({
    apiKey: "none",
    model: "storyteller",
    maxRetries: 0,
    configuration: { baseURL },
  });
  Fox.parse(await model.withStructuredOutput(Fox, { method: "jsonSchema" }).invoke(question));
});

test("Ollama", async () => {
  const { message } = await new Ollama({ host: served.stories }).chat({
    model: "storyteller",
    messages: ask,
    format: z.toJSONSchema(Fox),
  });
  Fox.parse(JSON.parse(message.content));
});
