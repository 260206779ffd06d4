// The sentences about a model while it is opened and once it is open.
import type { Check, Progress } from "tokamak-web";
import { bytes } from "./numbers.ts";

const PHASES: Record<Progress["phase"], string> = {
  "look-up": "Looking the model up",
  download: "Downloading",
  verify: "Checking what was downloaded",
  read: "Reading",
  "self-test": "Testing the kernels on this device",
  compile: "Compiling the kernels",
  upload: "Loading the weights",
  "warm-up": "Warming the voice up",
  ready: "Ready",
};

/** A sentence on how far opening is. */
export function progressText(progress: Progress): string {
  const { phase, loaded, total } = progress;
  const isBytes = phase !== "compile" && phase !== "self-test";
  const amount = !total ? "" : isBytes ? ` ${bytes(loaded)} of ${bytes(total)}` : ` ${loaded} of ${total}`;
  const speed = progress.bytesPerSecond ? `, ${bytes(progress.bytesPerSecond)}/s` : "";
  return `${PHASES[phase]}${amount}${speed}`;
}

/** The name of the GPU, or the processor, after "on". */
export function placeOf({ backend, name }: Check["adapter"]): string {
  return backend === "cpu" ? "the processor" : name;
}

export function verdictText(found: Check): string {
  if (!found.runs) return found.reason ?? "It does not run here.";
  const size = found.download > 0 ? `${bytes(found.download)} to download` : "all of it is in this browser";
  const device = found.model ? `, ${bytes(found.model.memory.total)} on ${found.adapter.backend === "cpu" ? "the processor" : "the GPU"}, ${found.model.context} tokens of context` : "";
  const fit = { fits: "It fits this device", tight: "It may be too much for this device", "too-large": "It is too large for this device", unsupported: "It does not run here" };
  return `${fit[found.verdict]}: ${size}${device}.`;
}
