// The functions of the page: sums, and what a visitor describes.
import { expect, test } from "vitest";
import { calculated } from "../src/arithmetic.ts";
import { asMarkdown, openCalls } from "../src/conversations.ts";
import { ownAnswer, toolsOf } from "../src/own_tools.ts";

test.each([
  ["2 + 3 * 4", 14],
  ["(2 + 3) * 4", 20],
  ["-2 ^ 2", -4],
  ["2 ** 3 ** 2", 512],
  ["10 - 3 - 2", 5],
  ["7 % 4 / 2", 1.5],
  ["1.5e3 × 2 ÷ 3 − .5", 999.5],
  ["2 * -3", -6],
])("%s is %d", (text, value) => {
  expect(calculated(text)).toBeCloseTo(value, 10);
});

test.each([
  ["", "The sum ends too early."],
  ["2 +", "The sum ends too early."],
  ["2 3", '"3" stands where a sign of a sum is expected.'],
  ["(2", "A bracket is not closed."],
  ["2 + x", '"x" is no number and no sign of a sum.'],
  ["alert(1)", '"alert(1)" is no number and no sign of a sum.'],
  ["* 2", '"*" stands where a number is expected.'],
])("%j is no sum", (text, why) => {
  expect(() => calculated(text)).toThrow(why);
});

test("the page answers for its own functions, and leaves others to the visitor", () => {
  const call = (name: string, values: Record<string, unknown>) => ({ id: "c", name, arguments: values });
  expect(ownAnswer(call("calculate", { sum: "0.1 + 0.2" }))).toBe("0.3");
  expect(ownAnswer(call("calculate", { sum: "2 +" }))).toBe("Error: The sum ends too early.");
  expect(ownAnswer(call("time", { zone: "UTC" }))).toMatch(/\d{4} at \d\d:\d\d:\d\d UTC$/);
  expect(ownAnswer(call("time", { zone: "Nowhere" }))).toMatch(/^Error: /);
  expect(ownAnswer(call("weather", {}))).toBeUndefined();
});

test("a list of functions is read plain or as in OpenAI's chats", () => {
  const tool = { type: "function", function: { name: "weather", description: "of a city" } };
  expect(toolsOf('[{"name": "weather", "description": "of a city"}]')).toEqual([tool]);
  expect(toolsOf(JSON.stringify([tool]))).toEqual([tool]);
  expect(toolsOf(" ")).toEqual([]);
  expect(() => toolsOf('{"name": "weather"}')).toThrow("Expected a list of functions.");
  expect(() => toolsOf('[{"name": "the weather"}]')).toThrow('Each function has a "name"');
});

test("calls wait until each has its answer", () => {
  const calls = [{ id: "a", name: "time", arguments: {} }, { id: "b", name: "time", arguments: { zone: "UTC" } }];
  const conversation = { id: "x", changed: 1, turns: [{ role: "user" as const, content: "When?" }, { role: "assistant" as const, content: "", calls }] };
  expect(openCalls(conversation)).toEqual(calls);
  const answered = { ...conversation, turns: [...conversation.turns, { role: "tool" as const, content: "12:00", call: "a" }] };
  expect(openCalls(answered)).toEqual([calls[1]]);
  expect(asMarkdown(answered)).toContain('`time({"zone":"UTC"})`\n\n**Function:**\n\n12:00\n');
});
