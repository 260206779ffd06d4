import type { ModelPlan, PlanPhase } from "tokamak-web";
import { describe, expect, test } from "vitest";
import { stagesOf } from "../src/kernels/life.ts";
import { withNumbers } from "../src/kernels/numbers_in_text.ts";

const step = (kernel: string, buffer = -1) => ({ op: kernel, kernel, bytes: 1, flops: 1, inputs: [{ type: "f32[T,8]", buffer }], outputs: [], passed_over: [] });

describe("the stages of a token", () => {
  const buffers = [{ id: 0, tensor: "embed_tokens.weight" }, ...[0, 1, 2].flatMap((layer) => [{ id: 10 + layer, tensor: `layers.${layer}.q.weight` }, { id: 20 + layer, tensor: `kv.${layer}` }])];
  const layer = (at: number, attention = "attention") => [step("norm", 10 + at), step("add"), step(attention, 20 + at)];
  const stages = (steps: PlanPhase["steps"]) => {
    const phase: PlanPhase = { name: "greedy", max_tokens: 1, launches: steps.length, bytes: 0, flops: 0, tensors: 0, tensor_bytes: 0, steps };
    return stagesOf(phase, { backend: "webgpu", buffers, phases: [phase] } as ModelPlan);
  };

  test("are what is before, a layer as often as it runs, and what is after", () => {
    expect(stages([step("embed", 0), ...layer(0), ...layer(1), ...layer(2), step("head", 0)])).toEqual([
      { layers: [], steps: [0] },
      { layers: [0, 1, 2], steps: [1, 2, 3] },
      { layers: [], steps: [10] },
    ]);
  });

  test("have the head after the layers, though it finishes the last one's sum", () => {
    const head = { ...step("head", 0), inputs: [{ type: "bf16[512,8]", buffer: 0 }, { type: "f32[8]", buffer: 12 }] };
    expect(stages([...layer(2), head]).at(-1)).toEqual({ layers: [], steps: [3] });
  });

  test("have layers of another kind by themselves", () => {
    expect(stages([...layer(0), ...layer(1, "window"), ...layer(2)])).toEqual([{ layers: [0, 2], steps: [0, 1, 2] }, { layers: [1], steps: [3, 4, 5] }]);
  });
});

test("constants are put as numbers where they stand, and are declared still", () => {
  const text = "const IN: u32 = 320u;\nconst UNITS = IN / 8u;\nlet a = x[IN * 2u]; // IN\nlet INPUT = IN;";
  expect(withNumbers(text)).toBe("const IN: u32 = 320u;\nconst UNITS = 320u / 8u;\nlet a = x[320u * 2u]; // IN\nlet INPUT = 320u;");
});
