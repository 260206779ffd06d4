// Language, embedding, image and speech models in Node.js, on the GPU at hand or on the processor.
//
//   import { open } from "tokamak-node";
//   const engine = await open("Qwen/Qwen3-0.6B");
//   for await (const { text } of engine.chat([{ role: "user", content: "Why is the sky blue?" }])) process.stdout.write(text);
import { fileURLToPath } from "node:url";
import { addon } from "./addon.ts";
import type { Device, Engine, OpenOptions } from "./api.ts";
import { Calls } from "./calls.ts";
import { ModelEngine } from "./engine.ts";
import { TokamakError } from "./errors.ts";
import { isMissing, pullInto } from "./models.ts";
import { pairsOf } from "./options.ts";
import { OverallProgress } from "./progress.ts";

export type * from "./api.ts";
export { type ErrorCode, TokamakError } from "./errors.ts";
export { models } from "./models.ts";

/** Pixels of a megapixel. */
const MEGA = 2 ** 20;

async function pullMissing(model: string, progress: OverallProgress, signal: AbortSignal | undefined): Promise<void> {
  if (!(await isMissing(model))) return;
  try {
    await pullInto(model, progress, signal);
  } catch (error) {
    if (!(error instanceof TokamakError) || error.code === "cancelled") throw error;
    throw new TokamakError(error.code, `${model} is not on this machine and cannot be fetched: ${error.message}`);
  }
}

/**
 * Opens a model: a folder, a .gguf file or org/name of a model in the Hugging Face cache, which is fetched where it is not there;
 * without one the built-in model. Fails with a TokamakError; an aborted signal makes that `cancelled`.
 */
export async function open(model: string | URL = "", options: OpenOptions = {}): Promise<Engine> {
  const name = model instanceof URL ? fileURLToPath(model) : model;
  const { signal, onProgress, onNotice, pull = true, codec, megapixels, maxMemory, adapters, ...plain } = options;
  const calls = new Calls();
  const progress = new OverallProgress(onProgress);
  if (pull) await pullMissing(name, progress, signal);
  const pairs = pairsOf({
    model: name,
    ...plain,
    memory: maxMemory,
    adapter: adapters,
    ...(megapixels !== undefined && { imagePixels: Math.round(megapixels * MEGA) }),
  });
  const report = calls.guard((phase: number, done: number, total: number) => progress.loading(phase, done, total));
  const [handle, details] = await calls.run(
    () => addon().open(pairs, report!, onNotice && ((text) => onNotice(text)), calls.cancellation),
    signal,
  );
  progress.ready();
  return new ModelEngine(handle, details, codec);
}

/** The devices that models can run on. */
export async function listDevices(): Promise<Device[]> {
  const found = JSON.parse(await addon().listDevices()) as (Omit<Device, "isSoftware"> & { is_software: boolean })[];
  return found.map(({ is_software: isSoftware, ...device }) => ({ ...device, isSoftware }));
}

/** The version of the library. */
export function version(): string {
  return addon().version();
}
