// The sound of a microphone, brought to the 16 kHz of the models as it comes.

export const RATE = 16_000;

/** Frequencies up to this part of the highest one that 16 kHz have are passed on. */
const PASSED = 0.9;
/** Zero crossings of the filter to each side: the more, the steeper it is. */
const CROSSINGS = 16;

/** A sinc in a window of Hann's; what is above half of the lower rate is left out. */
export class Resampler {
  readonly rate: number;
  /** Samples that are passed on in one of these. */
  readonly #step: number;
  readonly #cutoff: number;
  /** Samples to each side that one of the output is made of. */
  readonly #reach: number;
  /** The samples that later ones still need, and where the next one lies in them. */
  #kept: Float32Array;
  #at: number;

  constructor(rate: number) {
    this.rate = rate;
    this.#step = rate / RATE;
    this.#cutoff = PASSED * Math.min(1, 1 / this.#step);
    this.#reach = Math.ceil(CROSSINGS / this.#cutoff);
    this.#kept = new Float32Array(this.#reach);
    this.#at = this.#reach;
  }

  /** The samples that are known by now. */
  add(samples: Float32Array): Float32Array {
    if (this.rate === RATE) return samples;
    const all = new Float32Array(this.#kept.length + samples.length);
    all.set(this.#kept);
    all.set(samples, this.#kept.length);
    const out: number[] = [];
    for (; this.#at + this.#reach < all.length; this.#at += this.#step) out.push(this.#sample(all));
    const done = Math.max(0, Math.floor(this.#at) - this.#reach);
    this.#kept = all.slice(done);
    this.#at -= done;
    return Float32Array.from(out);
  }

  #sample(all: Float32Array): number {
    let sum = 0;
    for (let i = Math.ceil(this.#at - this.#reach); i <= this.#at + this.#reach; ++i) {
      const x = i - this.#at;
      const phase = Math.PI * this.#cutoff * x;
      const sinc = x === 0 ? 1 : Math.sin(phase) / phase;
      sum += (all[i] ?? 0) * this.#cutoff * sinc * 0.5 * (1 + Math.cos((Math.PI * x) / this.#reach));
    }
    return sum;
  }
}
