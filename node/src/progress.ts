// One number for everything that opening a model takes.
import type { Progress } from "./api.ts";

type Phase = Progress["phase"];

const PULL_PHASES: Phase[] = ["look-up", "wait", "download", "verify"];
const LOAD_PHASES: Phase[] = ["read", "upload", "compile"];

/** The part of the whole that is done when a phase begins, and that the phase takes: where a model is fetched first, and where not. */
const PARTS: Partial<Record<Phase, [start: number, share: number]>> = {
  download: [0, 0.7],
  verify: [0.7, 0],
  upload: [0, 0.8],
  compile: [0.8, 0.2],
};

/** Reports of a phase come at most that often. */
const PAUSE_MS = 50;

export class OverallProgress {
  readonly #report: ((progress: Progress) => void) | undefined;
  #overall = 0;
  #fetched = 0; // of the whole
  #last: { phase: Phase; time: number } | undefined;

  constructor(report: ((progress: Progress) => void) | undefined) {
    this.#report = report;
  }

  pulling(stage: number, file: string, loaded: number, total: number): void {
    this.#fetched = 0.7;
    this.#add(PULL_PHASES[stage] ?? "wait", loaded, total, (part) => part, file);
  }

  loading(phase: number, loaded: number, total: number): void {
    this.#add(LOAD_PHASES[phase] ?? "read", loaded, total, (part) => this.#fetched + (1 - this.#fetched) * part);
  }

  ready(): void {
    this.#overall = 1;
    this.#report?.({ phase: "ready", loaded: 0, total: 0, overall: 1 });
  }

  #add(phase: Phase, loaded: number, total: number, overall: (part: number) => number, file?: string): void {
    const [start, share] = PARTS[phase] ?? [0, 0];
    // All bytes are loaded when kernels are compiled: how many of those are done is not known.
    const done = total > 0 && phase !== "compile" ? loaded / total : 0;
    this.#overall = Math.max(this.#overall, Math.min(0.999, overall(start + share * done)));
    const now = performance.now();
    const isNews = this.#last?.phase !== phase || (total > 0 && loaded === total) || now >= this.#last.time + PAUSE_MS;
    if (!isNews) return;
    this.#last = { phase, time: now };
    this.#report?.({ phase, loaded, total, overall: this.#overall, ...(file && { file }) });
  }
}
