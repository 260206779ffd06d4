// One number for everything that opening a model takes.
import type { Progress } from "./api.ts";

// What the phases take of the whole. Bytes come by the network or, with files that are here, by reading.
const WEIGHTS = { bytes: 0.6, compile: 0.2, upload: 0.15, "self-test": 0.05 };
type Weighed = keyof typeof WEIGHTS;

const WEIGHED: Partial<Record<Progress["phase"], Weighed>> = {
  download: "bytes",
  read: "bytes",
  compile: "compile",
  upload: "upload",
  "self-test": "self-test",
};

export class OverallProgress {
  readonly #shares = new Map<Weighed, number>();
  #overall = 0;

  /** The progress with its `overall`, which is never less than the last one. */
  add(progress: Omit<Progress, "overall">): Progress {
    const weighed = WEIGHED[progress.phase];
    if (weighed && progress.total > 0) {
      this.#shares.set(weighed, Math.min(1, progress.loaded / progress.total));
    }
    let sum = 0;
    for (const [name, share] of this.#shares) sum += WEIGHTS[name] * share;
    // Phases may come to an end, be left out and come again; only `ready` is the end of them all.
    this.#overall = progress.phase === "ready" ? 1 : Math.max(this.#overall, Math.min(sum, 0.999));
    return { ...progress, overall: this.#overall };
  }
}
