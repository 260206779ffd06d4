// The selection of a page, after "#" in its address.
import { expect, test } from "vitest";
import { hashOf, parsedHash } from "../src/address.ts";

test.each([
  ["", "", {}],
  ["#plan", "plan", {}],
  ["#linear.wgsl.matvec&device=4", "linear.wgsl.matvec", { device: "4" }],
  ["#tokens=1&at=12", "", { tokens: "1", at: "12" }],
])("%j", (hash, name, values) => {
  const found = parsedHash(hash);
  expect([found.name, Object.fromEntries(found.values)]).toEqual([name, values]);
  expect(hashOf(found)).toBe(hash);
});
