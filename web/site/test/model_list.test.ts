// The words of a model's card.
import type { Adapter } from "tokamak-web";
import { afterEach, expect, test, vi } from "vitest";
import { keepBandwidth } from "../src/measured.ts";
import { cardText } from "../src/model_list.ts";

const GPU = { backend: "webgpu", name: "a GPU", limits: { maxBufferSize: 2 ** 34 } } as unknown as Adapter;
const PHONE = { backend: "webgpu", name: "a phone", limits: { maxBufferSize: 2 ** 28 } } as unknown as Adapter;
const QWEN = { name: "Qwen/Qwen3-0.6B", size: 1.5e9, bits: 16, about: "many languages", writes: true };

afterEach(() => vi.unstubAllGlobals());

test("a card has size, bits, whether it fits, and the bound that the measured memory sets", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) });
  expect(cardText(QWEN)).toBe("1.5 GB, 16 bits, many languages");
  expect(cardText(QWEN, PHONE)).toBe("1.5 GB, 16 bits, many languages; too large for this device");
  keepBandwidth(GPU, NaN);
  expect(cardText(QWEN, GPU)).toBe("1.5 GB, 16 bits, many languages; fits this device");
  keepBandwidth(GPU, 300e9);
  expect(cardText(QWEN, GPU)).toBe("1.5 GB, 16 bits, many languages; fits this device; at most 200 tok/s on a GPU");
  expect(cardText(QWEN, PHONE)).toBe("1.5 GB, 16 bits, many languages; too large for this device"); // another device was measured
  expect(cardText({ ...QWEN, size: 18e6 })).toBe("18.0 MB, 16 bits, many languages"); // caches may be faster
  expect(cardText({ ...QWEN, writes: false })).toBe("1.5 GB, 16 bits, many languages");
});
