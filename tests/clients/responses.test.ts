// OpenAI's own client and its Responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { all, question, served, weather } from "./served.ts";

const clientOf = (url: string) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const stories = clientOf(served.stories);
const scripted = clientOf(served.scripted);
// The seed is none of Responses' own fields; temperature 0 repeats an answer as well.
const request = { model: "storyteller", input: question, max_output_tokens: 8, temperature: 0 };
const tool = { ...weather.function, type: "function" as const, strict: false };

const plain = await stories.responses.create(request);

test("a streamed response is the plain one, event by event", async () => {
  const events = await all(await stories.responses.create({ ...request, stream: true }));
  assert.equal(plain.object, "response");
  assert.equal(plain.status, "incomplete");
  assert.equal(plain.incomplete_details!.reason, "max_output_tokens");
  assert.equal(plain.usage!.output_tokens, 8);
  const text = events.map((event) =>
    event.type === "response.output_text.delta" ? event.delta : "",
  );
  assert.equal(text.join(""), plain.output_text);
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    [...events.keys()],
  );
  const types = events.map((event) => event.type).filter((type) => !type.endsWith(".delta"));
  assert.deepEqual(types, [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.incomplete",
  ]);
  const last = events.at(-1)!;
  assert(last.type === "response.incomplete");
  assert.equal(last.response.usage!.total_tokens, plain.usage!.total_tokens);
});

test("the client's own gathering of a stream gives the plain response", async () => {
  const final = await stories.responses.stream(request).finalResponse();
  assert.equal(final.output_text, plain.output_text);
});

test("messages and instructions are a conversation", async () => {
  const input = [
    { role: "user" as const, content: [{ type: "input_text" as const, text: question }] },
  ];
  const told = await stories.responses.create({ ...request, input, instructions: "Be brief." });
  const chat = await stories.chat.completions.create({
    model: "storyteller",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: question },
    ],
    max_tokens: 8,
    temperature: 0,
  });
  assert.equal(told.output_text, chat.choices[0]!.message.content);
});

test("a call and its result go both ways", async () => {
  const input: OpenAI.Responses.ResponseInput = [
    { role: "user", content: "Will it rain in Paris?" },
  ];
  const asked = await scripted.responses.create({ model: "scripted", input, tools: [tool] });
  assert.equal(asked.status, "completed");
  const call = asked.output.find((item) => item.type === "function_call")!;
  assert.equal(call.name, "weather");
  assert.deepEqual(JSON.parse(call.arguments), { city: "Paris", days: 2 });
  const told = await scripted.responses.create({
    model: "scripted",
    tools: [tool],
    input: [
      ...input,
      ...asked.output,
      { type: "function_call_output", call_id: call.call_id, output: "sunny" },
    ] as OpenAI.Responses.ResponseInput,
  });
  assert.equal(told.output_text, "It is sunny in Paris 🙂 today.");
});

test("a streamed call is the plain one", async () => {
  const events = await all(
    await scripted.responses.create({
      model: "scripted",
      input: "And in Oslo and Rome?",
      tools: [tool],
      stream: true,
    }),
  );
  const done = events.flatMap((event) =>
    event.type === "response.function_call_arguments.done" ? [event] : [],
  );
  assert.deepEqual(
    done.map((event) => JSON.parse(event.arguments)),
    [{ city: "Oslo" }, { city: "Rome" }],
  );
  for (const { output_index, arguments: whole } of done) {
    const deltas = events.map((event) =>
      event.type === "response.function_call_arguments.delta" && event.output_index === output_index
        ? event.delta
        : "",
    );
    assert.equal(deltas.join(""), whole);
  }
  const last = events.at(-1)!;
  assert(last.type === "response.completed");
  assert.equal(last.response.output.filter((item) => item.type === "function_call").length, 2);
});

test("reasoning is an item of its own", async () => {
  const told = await scripted.responses.create({ model: "scripted", input: "Hello" });
  assert.equal(told.output_text, "Good morning.");
  assert.deepEqual(
    told.output.map((item) => item.type),
    ["reasoning", "message"],
  );
});

test("what is wrong with a request is an error with its field", async () => {
  const wrong: [object, string][] = [
    [{ temperature: 3 }, "temperature"],
    [{ max_output_tokens: 0 }, "max_output_tokens"],
    [{ previous_response_id: "resp_1" }, "previous_response_id"],
    [{ tools: [{ type: "function", name: "a b" }] }, "tools"],
  ];
  for (const [change, param] of wrong) {
    await assert.rejects(stories.responses.create({ ...request, ...change }), (error) => {
      assert(error instanceof OpenAI.BadRequestError, `${JSON.stringify(change)}: ${error}`);
      assert.equal(error.param, param, error.message);
      return true;
    });
  }
});
