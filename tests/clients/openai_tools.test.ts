// OpenAI's own client, calls of tools and reasoning.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { all, served, weather } from "./served.ts";

const client = new OpenAI({ baseURL: `${served.scripted}/v1`, apiKey: "none", maxRetries: 0 });
const model = "scripted";
const paris = { role: "user" as const, content: "Will it rain in Paris?" };
const both = { role: "user" as const, content: "And in Oslo and Rome?" };

test("a call comes whole, and its result goes back", async () => {
  const asked = await client.chat.completions.create({
    model,
    messages: [paris],
    tools: [weather],
  });
  const { message, finish_reason } = asked.choices[0]!;
  assert.equal(finish_reason, "tool_calls");
  assert.equal(message.content, null);
  const call = message.tool_calls![0]!;
  assert(call.type === "function");
  assert.equal(call.function.name, "weather");
  assert.deepEqual(JSON.parse(call.function.arguments), { city: "Paris", days: 2 });
  const told = await client.chat.completions.create({
    model,
    tools: [weather],
    messages: [paris, message, { role: "tool", tool_call_id: call.id, content: "sunny" }],
  });
  assert.equal(told.choices[0]!.message.content, "It is sunny in Paris 🙂 today.");
  assert.equal(told.choices[0]!.finish_reason, "stop");
});

test("streamed calls are the plain ones", async () => {
  for (const question of [paris, both]) {
    const request = { model, messages: [question], tools: [weather] };
    const plain = (await client.chat.completions.create(request)).choices[0]!.message;
    const final = await client.chat.completions.stream(request).finalMessage();
    const functions = (message: typeof plain) =>
      message.tool_calls!.map((call) => call.type === "function" && call.function);
    assert.equal(functions(plain).length, question === both ? 2 : 1);
    assert.deepEqual(
      functions(final).map((made) => made && [made.name, JSON.parse(made.arguments)]),
      functions(plain).map((made) => made && [made.name, JSON.parse(made.arguments)]),
    );
    assert.equal(plain.content, null);
    assert.equal(final.content, null);
  }
});

test("arguments come in pieces, and a call that the model begins is held to its schema", async () => {
  const parameters = {
    type: "object",
    properties: { city: { const: "Parma" } },
    required: ["city"],
    additionalProperties: false,
  };
  // By itself it would say Paris, and days.
  const tools = [{ ...weather, function: { ...weather.function, parameters } }];
  const request = { model, messages: [paris], tools, parallel_tool_calls: false, max_tokens: 200 };
  const chunks = await all(await client.chat.completions.create({ ...request, stream: true }));
  const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
  const pieces = calls.flatMap((call) => call.function?.arguments || []);
  assert(pieces.length > 1, JSON.stringify(pieces));
  assert.deepEqual(JSON.parse(pieces.join("")), { city: "Parma" });
  assert.equal(chunks.at(-1)!.choices[0]!.finish_reason, "tool_calls");
  const plain = await client.chat.completions.create(request);
  const call = plain.choices[0]!.message.tool_calls![0]!;
  assert(call.type === "function");
  assert.equal(call.function.arguments, pieces.join(""));
});

test("a schema that cannot be held is refused where the tool insists on it", async () => {
  const parameters = { type: "object", properties: { a: { type: "array", uniqueItems: true } } };
  const asked = (strict?: boolean) =>
    client.chat.completions.create({
      model,
      messages: [paris],
      tools: [
        { type: "function", function: { name: "f", parameters, ...(strict ? { strict } : {}) } },
      ],
      parallel_tool_calls: false,
      max_tokens: 1,
    });
  await assert.rejects(asked(true), { status: 400, param: "tools[0].function.parameters" });
  await asked();
});

test("only the first call counts where calls may not be parallel", async () => {
  const { choices } = await client.chat.completions.create({
    model,
    messages: [both],
    tools: [weather],
    parallel_tool_calls: false,
  });
  assert.equal(choices[0]!.message.tool_calls!.length, 1);
});

test("the client's own loop calls the function and ends with the answer", async () => {
  const asked: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model,
    stream: true,
    messages: [paris],
    tools: [
      {
        type: "function",
        function: {
          ...weather.function,
          parse: JSON.parse,
          function: (place: unknown) => {
            asked.push(place);
            return "sunny";
          },
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), "It is sunny in Paris 🙂 today.");
  assert.deepEqual(asked, [{ city: "Paris", days: 2 }]);
});

test("a character of several tokens comes whole in a stream", async () => {
  const chunks = await all(
    await client.chat.completions.create({
      model,
      stream: true,
      tools: [weather],
      messages: [
        paris,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call_1",
              type: "function",
              function: { name: "weather", arguments: '{"city": "Paris", "days": 2}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "sunny" },
      ],
    }),
  );
  const pieces = chunks.map((chunk) => chunk.choices[0]!.delta.content ?? "");
  assert.equal(pieces.join(""), "It is sunny in Paris 🙂 today.");
  for (const piece of pieces) assert(!piece.includes("\ufffd"), JSON.stringify(piece));
});

test("reasoning stands beside the answer, streamed too", async () => {
  const request = { model, messages: [{ role: "user" as const, content: "Hello" }] };
  type Reasoned = { reasoning_content?: string | null; content?: string | null };
  const plain = (await client.chat.completions.create(request)).choices[0]!.message as Reasoned;
  assert.equal(plain.content, "Good morning.");
  assert.equal(plain.reasoning_content, "The user greets me.");
  const chunks = await all(await client.chat.completions.create({ ...request, stream: true }));
  const deltas = chunks.map((chunk) => chunk.choices[0]!.delta as Reasoned);
  assert.equal(deltas.map((delta) => delta.content ?? "").join(""), plain.content);
  assert.equal(
    deltas.map((delta) => delta.reasoning_content ?? "").join(""),
    plain.reasoning_content,
  );
});

test("a tool without a right name is an error with its place", async () => {
  await assert.rejects(
    client.chat.completions.create({
      model,
      messages: [paris],
      tools: [{ type: "function", function: { name: "two words" } }],
    }),
    (error) => {
      assert(error instanceof OpenAI.BadRequestError);
      assert.equal(error.param, "tools");
      assert.match(error.message, /tools\[0\]\.function\.name/);
      return true;
    },
  );
});
