// The parts of an answer, and the addresses of stories.
import { expect, test } from "vitest";
import { settledLength } from "../src/answer_view.ts";
import { marked, partsOf } from "../src/reasoning.ts";
import { highlighted } from "../src/highlight.ts";
import { commonLength, modelOf } from "../src/same_model.ts";
import { linkOf, markOf, reasonOf, storyOf } from "../src/replay_link.ts";

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
  const whole = { ...story, model: "storyteller", device: "the processor", temperature: 0 };
  expect(storyOf(linkOf(whole))).toEqual(whole);
  for (const t of ["x", "-1", "9", ""]) expect(storyOf(`#p=Once&s=7&t=${t}`)).toEqual({ prompt: "Once", seed: 7 });
  expect(markOf([1, 2])).not.toBe(markOf([2, 1]));
  for (const hash of ["", "#p=Once", "#s=7", "#p=Once&s=-1", "#p=Once&s=x"]) expect(storyOf(hash)).toBeNull();
  expect(storyOf("#p=Once&s=7&n=1000000")).toEqual({ prompt: "Once", seed: 7, tokens: 1000 });
});

test("a story with other tokens has the reason that can be told", () => {
  const here = { model: "storyteller", device: "the processor", tabs: 1 };
  const reason = (link: object, tabs = 1) => reasonOf({ prompt: "Once", seed: 7, ...link }, { ...here, tabs });
  expect(reason({ model: "other", device: "a GPU" }, 2)).toBe("other wrote it, and the model here is storyteller.");
  expect(reason({ model: "storyteller", device: "a GPU" }, 2)).toMatch(/^It was written on a GPU, and this is the processor/);
  expect(reason({ model: "storyteller", device: "the processor" }, 2)).toMatch(/^2 tabs share the model/);
  expect(reason({ model: "storyteller", device: "the processor" })).toMatch(/^Model and device are the same\. .*another version/);
  expect(reason({})).toMatch(/^The link does not name its model and its device\. .*another version/);
});

test("builds of the same model are told from other models", () => {
  for (const name of ["Qwen/Qwen3-0.6B", "onnx-community/Qwen3-0.6B-ONNX", "Qwen3-0.6B-q4f16_1-MLC", "unsloth/Qwen3-0.6B-GGUF", "https://x.invalid/Qwen3-0.6B-Q4_0.gguf"]) {
    expect(modelOf(name)).toBe("qwen3-0.6b");
  }
  expect(modelOf("built-in")).toBe("built-in");
  expect([commonLength("abc", "abd"), commonLength("", "a")]).toEqual([2, 0]);
});

test("code is coloured, and nothing of it becomes markup", () => {
  expect(highlighted('if (a < 1.5) f("<b>"); // </pre>', "js")).toBe(
    '<span class="code-word">if</span> (a &lt; <span class="code-number">1.5</span>) f(<span class="code-string">"&lt;b&gt;"</span>); <span class="code-comment">// &lt;/pre&gt;</span>');
  expect(highlighted("x = 1 # // y", "python")).toBe('x = <span class="code-number">1</span> <span class="code-comment"># // y</span>');
  expect(highlighted("a /* open", "")).toBe('a <span class="code-comment">/* open</span>');
  const code = "let s = 'it\\'s'; `a\n${b}` && 0xFF_u8 <= c;\n";
  expect(highlighted(code, "rust").replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&")).toBe(code);
});

test("an answer is kept with marks around its reasoning, which are found again", () => {
  const add = marked("");
  const kept = [{ text: "", reasoning: "Hm, " }, { text: "", reasoning: "so." }, { text: "Yes" }, { text: "." }].map(add).join("");
  expect(kept).toBe("<think>\nHm, so.\n</think>\n\nYes.");
  expect(partsOf(kept)).toEqual({ reasoning: "Hm, so.", answer: "Yes.", isReasoning: false });
  expect(marked("<think>\nHm")({ text: "Yes." })).toBe("\n</think>\n\nYes.");
});
