// How far the bytes of a model are, told at most ten times a second.
import type { DownloadProgress } from "./types.ts";

const TELL_MS = 100;
const SPEED_MS = 5000; // over which the speed is averaged

export class Meter {
  #toldAt = -Infinity;
  #samples: { at: number; loaded: number }[] = [];
  readonly total: number;
  readonly loaded: () => number;
  readonly tell: (progress: DownloadProgress) => void;

  constructor(total: number, loaded: () => number, tell: (progress: DownloadProgress) => void) {
    this.total = total;
    this.loaded = loaded;
    this.tell = tell;
  }

  /** Whether nothing is missing; said once, before anything else. */
  begin(): void {
    const loaded = this.loaded();
    this.#tell(Date.now(), { phase: "download", loaded, total: this.total, cached: loaded === this.total });
  }

  change(phase: "download" | "verify", file: string): void {
    const at = Date.now();
    const isPlain = phase === "download";
    if (isPlain && at - this.#toldAt < TELL_MS) return;
    const bytesPerSecond = this.#speed(at);
    this.#tell(at, { phase, loaded: this.loaded(), total: this.total, cached: false, file,
      ...(bytesPerSecond !== undefined && { bytesPerSecond }) });
  }

  end(): void {
    this.#tell(Date.now(), { phase: "verify", loaded: this.loaded(), total: this.total, cached: false });
  }

  #speed(at: number): number | undefined {
    const first = this.#samples[0];
    if (!first || at === first.at) return undefined;
    return Math.max(0, (1000 * (this.loaded() - first.loaded)) / (at - first.at));
  }

  #tell(at: number, progress: DownloadProgress): void {
    this.#toldAt = at;
    this.#samples.push({ at, loaded: progress.loaded });
    while (this.#samples.length > 1 && at - this.#samples[0]!.at > SPEED_MS) this.#samples.shift();
    this.tell(progress);
  }
}
