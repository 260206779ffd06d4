// Answers of chats: reasoning and calls come apart from the text, also where the Worker stops in their middle.
import { expect, test } from "vitest";
import type { Piece } from "../src/api.ts";
import { ReplayedText } from "../src/replay.ts";
import { type Verbs, opened } from "./fakes.ts";

const DONE = { finish: "end" as const, stop: "", tokens: 4, seed: 1, promptTokens: 1, cachedTokens: 0, prefillSeconds: 0, decodeSeconds: 0 };

const ANSWER: Verbs = {
  generate: () => ({ request: 1 }),
  step: () => ({
    more: false,
    events: [
      { request: 1, text: "", ids: [1], reasoning: "Hm, " },
      { request: 1, text: "", ids: [2], reasoning: "so." },
      { request: 1, text: "I look.", ids: [3] },
      { request: 1, text: "", ids: [4], calls: [{ name: "time", arguments: '{"zone":"UTC"}' }, { name: "cut", arguments: '{"zone"' }, { name: "now", arguments: "" }] },
      { request: 1, done: DONE },
    ],
  }),
};

test("reasoning, text and calls of a chat come apart, in pieces and as a whole", async () => {
  const { engine } = await opened(ANSWER);
  const run = engine.chat([{ role: "user", content: "What time is it?" }]);
  const pieces: Piece[] = [];
  for await (const piece of run) pieces.push(piece);
  const { text, reasoning, toolCalls, message, ids } = await run.result;
  const id = expect.stringMatching(/^[0-9a-z]{9}$/);
  expect({ text, reasoning, ids }).toEqual({ text: "I look.", reasoning: "Hm, so.", ids: [1, 2, 3, 4] });
  expect(toolCalls).toEqual([{ id, name: "time", arguments: { zone: "UTC" } }, { id, name: "now", arguments: {} }]);
  expect(pieces.flatMap((piece) => piece.toolCalls ?? [])).toEqual(toolCalls);
  expect(pieces.map((piece) => piece.reasoning ?? "").join("")).toBe(reasoning);
  const written = toolCalls.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } }));
  expect(message).toEqual({ role: "assistant", content: "I look.", tool_calls: written });
});

test("an answer that comes again gives what is new of it, and each call once", () => {
  const [first, second] = [{ id: "a", name: "time", arguments: {} }, { id: "b", name: "time", arguments: {} }];
  const whole = new ReplayedText();
  whole.add({ text: "", ids: [1], reasoning: "Hm, " });
  whole.add({ text: "Yes", ids: [2], toolCalls: [first] });
  whole.repeat();
  expect(whole.add({ text: "Yes", ids: [1, 2], reasoning: "Hm, ", toolCalls: [second] })).toBeNull();
  expect(whole.add({ text: ".", ids: [3], reasoning: "so", toolCalls: [second] })).toEqual({ text: ".", ids: [3], reasoning: "so", toolCalls: [second] });
  expect(whole.parts).toEqual({ reasoning: "Hm, so", toolCalls: [first, second] });
  expect(whole.end(DONE)).toMatchObject({ text: "Yes.", ids: [1, 2, 3] });
});
