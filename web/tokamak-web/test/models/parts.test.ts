import { describe, expect, it } from "vitest";

import { formatState, parseState, Parts } from "../../src/models/parts.ts";

describe("Parts", () => {
  const parts = () => new Parts(25, 10);

  it("knows the first missing byte across parts", () => {
    const some = parts();
    expect(some.frontier()).toBe(0);
    some.done[0] = 10;
    some.done[1] = 3;
    some.done[2] = 5;
    expect([some.frontier(), some.total(), some.extent(), some.isWhole()]).toEqual([13, 18, 25, false]);
    some.done[1] = 10;
    expect([some.frontier(), some.isWhole()]).toEqual([25, true]);
  });

  it("tells which spans are there", () => {
    const some = parts();
    some.done[0] = 10;
    some.done[1] = 3;
    expect(some.has({ begin: 4, end: 13 })).toBe(true);
    expect(some.has({ begin: 4, end: 14 })).toBe(false);
    expect(some.has({ begin: 25, end: 25 })).toBe(true);
  });

  it("fetches what is waited for first, then the first that is missing", () => {
    const some = parts();
    expect(some.next(new Set(), [{ begin: 21, end: 22 }])).toBe(2);
    expect(some.next(new Set([2]), [{ begin: 21, end: 22 }])).toBe(0);
    some.done[0] = 10;
    expect(some.next(new Set([1, 2]))).toBeUndefined();
  });

  it("counts an empty file as whole", () => {
    expect(new Parts(0, 10).isWhole()).toBe(true);
  });
});

describe("the state of a download", () => {
  const state = () => {
    const parts = new Parts(25, 10);
    parts.done[0] = 10;
    parts.done[1] = 3;
    return { parts, version: '"a\n"', hash: { position: 13, state: Uint8Array.of(1, 255) } };
  };

  it("comes back from its text", () => {
    const text = formatState(state());
    expect(text).toContain("tokamak-parts 1 00000000000000000025 00000000000000000010\n00000000000000000010\n");
    expect(parseState(text, 25)).toEqual(state());
  });

  it("has the same length however much is there, so that it is written in place", () => {
    const { parts, version, hash } = state();
    const before = formatState({ parts: new Parts(25, 10), version, hash: { ...hash, position: 0 } });
    expect(formatState({ parts, version, hash }).length).toBe(before.length);
  });

  it.each([
    ["another size", (text: string) => text, 26],
    ["a count beyond its part", (text: string) => text.replace(/\n0{18}10\n/, `\n${"0".repeat(18)}11\n`), 25],
    ["a hash of bytes that are missing", (text: string) => text.replace("hash 00000000000000000013", "hash 00000000000000000014"), 25],
    ["half a text", (text: string) => text.slice(0, 90), 25],
    ["no text", () => "", 25],
  ])("is nothing with %s", (_, change, size) => {
    expect(parseState(change(formatState(state())), size)).toBeUndefined();
  });
});
