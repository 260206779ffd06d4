// Images by the clients of OpenAI, Anthropic and Ollama: the same answer and counts from each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { served } from "./served.ts";

const openai = new OpenAI({ baseURL: `${served.images}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: served.images, apiKey: "none", maxRetries: 0 });
const ollama = new Ollama({ host: served.images });

const file = join(process.env.TOKAMAK_SOURCE_DIR ?? "", "tests/data/images/wide.png");
const data = readFileSync(file).toString("base64");
const url = `data:image/png;base64,${data}`;
const text = "What is it?";
const rules = { model: "images", max_tokens: 8, temperature: 0 };

const chat = (about: string) =>
  openai.chat.completions.create({
    ...rules,
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: about } },
          { type: "text", text },
        ],
      },
    ],
  });

test("every client gets the same answer about an image", async () => {
  const answer = await chat(url);
  const said = answer.choices[0]!.message.content;
  const tokens = answer.usage!.prompt_tokens;
  const plain = await openai.chat.completions.create({
    ...rules,
    messages: [{ role: "user", content: text }],
  });
  assert.equal(tokens, plain.usage!.prompt_tokens + 12, "ten tokens of the image, two around them");

  const response = await openai.responses.create({
    model: "images",
    max_output_tokens: 8,
    temperature: 0,
    input: [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: url, detail: "auto" },
          { type: "input_text", text },
        ],
      },
    ],
  });
  assert.equal(response.output_text, said);
  assert.equal(response.usage!.input_tokens, tokens);

  const message = await anthropic.messages.create({
    ...rules,
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data } },
          { type: "text", text },
        ],
      },
    ],
  });
  assert.equal(message.content[0]!.type === "text" && message.content[0].text, said);

  const spoken = await ollama.chat({
    model: "images",
    messages: [{ role: "user", content: text, images: [data] }],
    options: { num_predict: 8, temperature: 0 },
  });
  assert.equal(spoken.message.content, said);
  assert.equal(spoken.prompt_eval_count, tokens);
});

test("an address on the network is refused", async () => {
  await assert.rejects(chat("https://example.com/a.png"), (error) => {
    assert(error instanceof OpenAI.BadRequestError);
    assert.match(error.message, /fetches nothing: send the image itself/);
    return true;
  });
});

test("a model that reads text only says so", async () => {
  const stories = new OpenAI({ baseURL: `${served.stories}/v1`, apiKey: "none", maxRetries: 0 });
  await assert.rejects(
    stories.chat.completions.create({
      model: "storyteller",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    }),
    /reads text only here; images are for/,
  );
});
