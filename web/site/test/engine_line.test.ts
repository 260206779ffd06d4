// The words of the header's line about the open model.
import type { EngineState, Generation } from "tokamak-web";
import { expect, test } from "vitest";
import { speedOf, stateText } from "../src/engine_line.ts";

const state = (more: Partial<EngineState>): EngineState => ({ status: "ready", runs: 0, tokens: 0, lost: false, tabs: 1, ...more });

test("the speed is that of the last two seconds", () => {
  expect(speedOf([])).toBe(0);
  expect(speedOf([{ at: 0, tokens: 5 }])).toBe(0);
  expect(speedOf([{ at: 0, tokens: 0 }, { at: 1000, tokens: 30 }])).toBe(30);
  expect(speedOf([{ at: 0, tokens: 0 }, { at: 5000, tokens: 100 }, { at: 6000, tokens: 110 }])).toBe(10);
});

test.each([
  [state({}), 0, "ready"],
  [state({ status: "busy" }), 0, "working"],
  [state({ status: "busy" }), 31.25, "31.3 tok/s"],
  [state({ lastResult: { tokens: 11, decodeSeconds: 0.5 } as Generation }), 0, "ready, 20 tok/s"],
  [state({ lastResult: { tokens: 1, decodeSeconds: 0 } as Generation }), 0, "ready"],
  [state({ status: "busy", lost: true }), 9, "GPU lost"],
  [state({ status: "reopening" }), 0, "opened again"],
  [state({ status: "crashed" }), 0, "stopped"],
])("%j at %d", (given, speed, words) => {
  expect(stateText(given, speed)).toBe(words);
});
