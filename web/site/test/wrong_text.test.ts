import { describe, expect, test } from "vitest";
import { editOf, flipped } from "../src/kernels/wrong_text.ts";

const SUM = ["for (var i = lane; i < N; i += THREADS) {", "  count += 1u;", "  sums[r * BLOCK + i] += a[i] * b[i];", "}"].join("\n");

describe("a flipped operator", () => {
  test("is a sum's, not the step of a loop", () => {
    expect(flipped(SUM)).toEqual({ text: SUM.replace("i] += a", "i] -= a"), line: 2 });
  });

  test("is a product's where there is no sum", () => {
    const text = "const N = 2 * 3;\ny[r * N + c] = SCALE * weight(r * N + c);";
    expect(flipped(text)?.text).toBe("const N = 2 * 3;\ny[r * N + c] = SCALE + weight(r * N + c);");
    expect(flipped("fn f() {}")).toBeNull();
  });
});

describe("an edit of a text", () => {
  test("is the lines that differ", () => {
    expect(editOf("a\nb\nc\nd", "a\nx\ny\nd")).toEqual({ line: 1, from: "b\nc", to: "x\ny" });
    expect(editOf("a\nb", "a\nb")).toBeNull();
  });

  test("that is a new line changes the one before it, or after it", () => {
    expect(editOf("a\nb", "a\nnew\nb")).toEqual({ line: 0, from: "a", to: "a\nnew" });
    expect(editOf("a\nb", "new\na\nb")).toEqual({ line: 0, from: "a", to: "new\na" });
    expect(editOf("a\nb\nb", "a\nb")).toEqual({ line: 2, from: "b", to: "" });
  });
});
