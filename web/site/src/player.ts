// Plays samples as they come, one part after the other without gaps, and knows how many of them have been heard.
import type { Loudspeaker } from "tokamak-web";

/** The fade of a sound that is cut, since one that breaks off clicks; in seconds. */
const FADE = 0.005;

interface Part {
  source: AudioBufferSourceNode;
  /** In seconds of the context. */
  start: number;
  duration: number;
  samples: number;
}

export class Player implements Loudspeaker {
  readonly #context = new AudioContext();
  #gain = this.#opened();
  #parts: Part[] = [];
  /** Samples of parts that are over. */
  #over = 0;
  /** When what has come so far has been played, in seconds of the context. */
  #end = 0;

  play(samples: Float32Array, rate: number): void {
    const buffer = this.#context.createBuffer(1, samples.length, rate);
    buffer.getChannelData(0).set(samples);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#gain);
    const start = Math.max(this.#end, this.#context.currentTime);
    source.start(start);
    this.#parts.push({ source, start, duration: buffer.duration, samples: samples.length });
    this.#end = start + buffer.duration;
  }

  stop(): void {
    const { currentTime } = this.#context;
    const gain = this.#gain;
    gain.gain.setValueAtTime(1, currentTime);
    gain.gain.linearRampToValueAtTime(0, currentTime + FADE);
    for (const { source } of this.#parts) source.stop(currentTime + FADE);
    setTimeout(() => gain.disconnect(), 1000);
    this.#gain = this.#opened();
    this.#parts = [];
    this.#over = 0;
    this.#end = 0;
  }

  /** The samples that are heard: those that the context has played take a moment to the ears. */
  played(): number {
    const { currentTime, outputLatency = 0 } = this.#context;
    const heardAt = currentTime - outputLatency;
    const isOver = ({ start, duration }: Part) => start + duration <= heardAt;
    while (this.#parts[0] && isOver(this.#parts[0])) this.#over += this.#parts.shift()!.samples;
    const [now] = this.#parts;
    return this.#over + (now ? Math.floor(now.samples * Math.max(0, (heardAt - now.start) / now.duration)) : 0);
  }

  async close(): Promise<void> {
    if (this.#context.state !== "closed") await this.#context.close();
  }

  #opened(): GainNode {
    const gain = this.#context.createGain();
    gain.connect(this.#context.destination);
    return gain;
  }
}
