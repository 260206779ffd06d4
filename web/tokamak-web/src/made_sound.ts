// A sound as its samples come, perhaps a second time from a new Worker: what is there already is not told again.
import type { SpeakOptions, Speech } from "./api.ts";

export class MadeSound {
  readonly #tell: Pick<SpeakOptions, "onPiece" | "onSamples">;
  readonly #parts: Float32Array[] = [];
  #count = 0;
  #rate = 0;
  #pieces = 0;
  /** Samples and pieces that come once more. */
  #repeated = 0;
  #repeatedPieces = 0;

  constructor(tell: Pick<SpeakOptions, "onPiece" | "onSamples">) {
    this.#tell = tell;
  }

  /** Begins the sound of that piece of the text. */
  begin(piece: string): void {
    if (this.#repeatedPieces > 0) {
      this.#repeatedPieces -= 1;
      return;
    }
    this.#pieces += 1;
    this.#tell.onPiece?.(piece);
  }

  add(samples: Float32Array, rate: number): void {
    const known = Math.min(this.#repeated, samples.length);
    this.#repeated -= known;
    this.#rate = rate;
    if (known === samples.length) return;
    const fresh = samples.subarray(known);
    this.#parts.push(fresh);
    this.#count += fresh.length;
    this.#tell.onSamples?.(fresh, rate);
  }

  /** The same samples are about to come again. */
  repeat(): boolean {
    this.#repeated = this.#count;
    this.#repeatedPieces = this.#pieces;
    return true;
  }

  end({ pieces, cut }: Pick<Speech, "pieces" | "cut">): Speech {
    const samples = new Float32Array(this.#count);
    let at = 0;
    for (const part of this.#parts) {
      samples.set(part, at);
      at += part.length;
    }
    return { samples, rate: this.#rate, pieces, cut };
  }
}
