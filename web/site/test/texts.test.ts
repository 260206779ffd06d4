// The parts of an answer, and the addresses of stories.
import { expect, test } from "vitest";
import { settledLength } from "../src/answer_view.ts";
import { partsOf } from "../src/reasoning.ts";
import { commonLength, modelOf } from "../src/same_model.ts";
import { linkOf, markOf, storyOf } from "../src/replay_link.ts";

test.each([
  ["An answer.", "", "An answer.", false],
  ["<think>\nHm.\n</think>\n\nYes.", "Hm.", "Yes.", false],
  ["<think>Hm", "Hm", "", true],
  ["Hm, said the prompt.</think>Yes.", "Hm, said the prompt.", "Yes.", false], // the template has written the opening mark
  ["A <think> in the middle", "", "A <think> in the middle", false],
])("%j", (text, reasoning, answer, isReasoning) => {
  expect(partsOf(text)).toEqual({ reasoning, answer, isReasoning });
});

test("what stays of a text that grows ends at an empty line, and never within code", () => {
  expect(settledLength("One.\n\nTwo")).toBe(6);
  expect(settledLength("One.")).toBe(0);
  expect(settledLength("One.\n\n```\na\n\nb")).toBe(6);
  expect(settledLength("```\na\n\nb\n```\n\nTwo")).toBe(14);
});

test("a story's address has its prompt, seed and mark; anything else is no story", () => {
  const story = { prompt: "Once & again,", seed: 7, tokens: 160, mark: markOf([1, 2, 65_536]) };
  expect(storyOf(linkOf(story))).toEqual(story);
  expect(markOf([1, 2])).not.toBe(markOf([2, 1]));
  for (const hash of ["", "#p=Once", "#s=7", "#p=Once&s=-1", "#p=Once&s=x"]) expect(storyOf(hash)).toBeNull();
  expect(storyOf("#p=Once&s=7&n=1000000")).toEqual({ prompt: "Once", seed: 7, tokens: 1000 });
});

test("builds of the same model are told from other models", () => {
  for (const name of ["Qwen/Qwen3-0.6B", "onnx-community/Qwen3-0.6B-ONNX", "Qwen3-0.6B-q4f16_1-MLC", "unsloth/Qwen3-0.6B-GGUF", "https://x.invalid/Qwen3-0.6B-Q4_0.gguf"]) {
    expect(modelOf(name)).toBe("qwen3-0.6b");
  }
  expect(modelOf("built-in")).toBe("built-in");
  expect([commonLength("abc", "abd"), commonLength("", "a")]).toEqual([2, 0]);
});
