// One number for everything that opening a model takes.
import type { Progress } from "./api.ts";

// The shares of the phases in the whole. Bytes come by the network or, with files that are here, by reading.
const WEIGHTS = { bytes: 0.6, compile: 0.2, upload: 0.15, "self-test": 0.05 };
type Weighed = keyof typeof WEIGHTS;

const WEIGHED: Partial<Record<Progress["phase"], Weighed>> = {
  download: "bytes",
  read: "bytes",
  compile: "compile",
  upload: "upload",
  "self-test": "self-test",
};

const LEAST_MS = 50;

export class OverallProgress {
  readonly #shares = new Map<Weighed, number>();
  readonly #told = new Map<Progress["phase"], { loaded: number; at: number }>();
  #overall = 0;

  /**
   * The progress with its `overall`, which is never less than the last one. Null where nobody needs to
   * hear of it: nothing is new, or the phase has been told of less than 50 ms ago and goes on.
   */
  add(progress: Omit<Progress, "overall">): Progress | null {
    const { phase, loaded, total } = progress;
    const weighed = WEIGHED[phase];
    if (weighed && total > 0) this.#shares.set(weighed, Math.min(1, loaded / total));
    let sum = 0;
    for (const [name, share] of this.#shares) sum += WEIGHTS[name] * share;
    // Phases may come to an end, be left out and come again; only `ready` is the end of them all.
    this.#overall = phase === "ready" ? 1 : Math.max(this.#overall, Math.min(sum, 0.999));
    return this.#isNews(phase, loaded, total) ? { ...progress, overall: this.#overall } : null;
  }

  #isNews(phase: Progress["phase"], loaded: number, total: number): boolean {
    const last = this.#told.get(phase);
    const now = performance.now();
    if (last && (last.loaded === loaded || (loaded < total && now < last.at + LEAST_MS))) return false;
    this.#told.set(phase, { loaded, at: now });
    return true;
  }
}
