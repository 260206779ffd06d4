// The facts of a poster, by what a model's views say.
import type { Look } from "tokamak-web";
import { expect, test } from "vitest";
import { boundOf, factsOf } from "../src/poster.ts";

const node = (op: string, bytes: number) => ({ op, bytes });
const VIEWS: Record<string, object> = {
  graph: { nodes: [node("embed", 4), node("linear", 100), node("add", 8), node("linear", 100)] },
  fused: { nodes: [node("embed", 4), node("fused_linear", 208)] },
  summary: { parameters: 596_000_000 },
};
const memory = { weights: 1000, cache: 100, activations: 10, other: 1, total: 1111 };
const lookAt = (phases: object[]) =>
  ({
    model: { name: "m", architecture: "A", quantization: "q4_0", layers: 2, context: 64, memory },
    adapter: { backend: "webgpu", name: "a GPU" },
    inspect: (view: string) => Promise.resolve(view === "plan" ? { phases } : VIEWS[view]),
  }) as unknown as Look;

test("a poster counts what the architecture writes and what a token runs, and bounds the speed by what it moves", async () => {
  const steps = ["embed", "fused_linear", "next_token"].map((op) => ({ op }));
  const facts = await factsOf(lookAt([{ max_tokens: 512, bytes: 9000, steps: [] }, { max_tokens: 1, bytes: 250, steps }]));
  expect(facts.about).toBe("A, 596 M parameters, q4_0, 2 layers, on a GPU");
  expect(facts.before).toEqual(["embed", "linear", "add", "linear"]);
  expect(facts.after).toEqual(["embed", "fused_linear", "next_token"]);
  expect(facts.memory).toEqual([["weights", 1000], ["cache of 64 tokens", 100], ["activations", 10], ["other", 1]]);
  expect(boundOf(facts, 1000)).toBe(4);
});

test("a model that only reads has the kernels of its fused graph", async () => {
  const facts = await factsOf(lookAt([{ max_tokens: 512, bytes: 9000, steps: [] }]));
  expect([facts.after, facts.traffic]).toEqual([["embed", "fused_linear"], 212]);
});
