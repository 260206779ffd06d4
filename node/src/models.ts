// The models on this machine, and a hub that has others.
import { existsSync } from "node:fs";
import { addon } from "./addon.ts";
import type { PullOptions, StoredModel } from "./api.ts";
import { Calls } from "./calls.ts";
import { OverallProgress } from "./progress.ts";

/** Fetches what is missing of a model, and gives its path. */
export async function pullInto(name: string, progress: OverallProgress, signal: AbortSignal | undefined): Promise<string> {
  const calls = new Calls();
  const report = calls.guard((stage: number, text: string, done: number, total: number) => progress.pulling(stage, text, done, total));
  return calls.run(() => addon().pull(name, report!, calls.cancellation), signal);
}

const REPOSITORY = /^[\w.-]+\/[\w.-]+(@[\w./-]+)?(:[\w./-]+)?$/;

/** Whether it names a model of the hub that is not on this machine. */
export async function isMissing(model: string): Promise<boolean> {
  if (!REPOSITORY.test(model) || existsSync(model)) return false;
  return addon()
    .locate(model)
    .then(
      () => false,
      () => true,
    );
}

export const models = {
  /** Those in the Hugging Face cache. */
  async list(): Promise<StoredModel[]> {
    const found = JSON.parse(await addon().listModels()) as (Omit<StoredModel, "partialBytes"> & { partial_bytes: number })[];
    return found.map(({ partial_bytes: partialBytes, ...model }) => ({ ...model, partialBytes }));
  },
  /** The folder or file that a name means. */
  async locate(name: string): Promise<string> {
    return addon().locate(name);
  },
  /** Fetches what is missing of org/name[@revision][:file or quantization], and gives its path. */
  async pull(name: string, { onProgress, signal }: PullOptions = {}): Promise<string> {
    const progress = new OverallProgress(onProgress);
    const path = await pullInto(name, progress, signal);
    progress.ready();
    return path;
  },
};
