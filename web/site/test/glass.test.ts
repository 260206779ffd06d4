import { expect, test } from "vitest";
import type { StepProfile } from "tokamak-web";
import { factsOf, timed } from "../src/glass.ts";

const step = (us: number) => ({ op: "linear", kernel: "linear.wgsl.any", us, bytes: 1_000_000, flops: 10 });
const PROFILE = { bandwidth: 1e9, peak_flops: 1e12, launch_seconds: 0, steps: [step(1000), step(3000)] } as unknown as StepProfile;
const PLACE = { depth: 3, ms: 5 };

test("a step is told with its roofline", () => {
  expect(factsOf(timed(PROFILE), "the GPU", PLACE)).toBe(
    "2 dispatches move 2.0 MB; the token came 5 ms after the one before it. By themselves they take 4 ms, 0.5 GB/s. The roofline of the GPU is 2 ms, of which it reaches 50 %.");
});

test("caches may give more than memory does, which is no share", () => {
  const text = factsOf(timed({ ...PROFILE, bandwidth: 1e8 }), "the processor", PLACE);
  expect(text).toContain("At the bandwidth of the processor's memory they would take 20 ms: caches give them more than that.");
  expect(text).not.toContain("%");
});

test("without times there is what is moved", () => {
  const untimed = timed(PROFILE).map((one) => ({ ...one, time: 0 }));
  expect(factsOf(untimed, "the GPU", PLACE)).toBe("2 dispatches move 2.0 MB; the token came 5 ms after the one before it.");
});
