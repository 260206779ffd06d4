// Plays samples as they come, one part after the other without gaps.

export class Player {
  readonly #context = new AudioContext();
  /** When what has come so far has been played, in seconds of the context. */
  #end = 0;

  add(samples: Float32Array, rate: number): void {
    const buffer = this.#context.createBuffer(1, samples.length, rate);
    buffer.getChannelData(0).set(samples);
    const part = this.#context.createBufferSource();
    part.buffer = buffer;
    part.connect(this.#context.destination);
    this.#end = Math.max(this.#end, this.#context.currentTime);
    part.start(this.#end);
    this.#end += buffer.duration;
  }

  /** Ends what plays. */
  async close(): Promise<void> {
    if (this.#context.state !== "closed") await this.#context.close();
  }
}
