// Recordings that the module writes down, which it reads as files, and sounds that it makes of texts: what comes of them
// has their numbers.
import type { Segment } from "./api.ts";
import { filesOf } from "./model_values.ts";
import type { ResolvedModel } from "./models/types.ts";
import type { SpeakCall, TranscribeCall } from "./protocol.ts";
import type { Asker } from "./pump.ts";
import type { SessionModule } from "./session_host.ts";

export type ToldSegment = Segment & { id: number };

export class Sounds {
  readonly #recordings = new Map<number, Asker>();
  readonly #texts = new Map<number, Asker>();
  #last = 0;
  #rate = 0;

  async transcribe(module: SessionModule, { samples, values }: TranscribeCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    const id = module.files.add((offset, into) => into.set(bytes.subarray(offset, offset + into.length)));
    this.#recordings.set(id, asker);
    try {
      return await module.call("transcribe", { ...values, id, samples: samples.length }, signal);
    } finally {
      module.files.remove(id);
      this.#recordings.delete(id);
    }
  }

  told({ id, ...segment }: ToldSegment): void {
    this.#recordings.get(id)?.part({ kind: "segment", segment });
  }

  /** What makes the sound of the model that is open. */
  async openCodec(module: SessionModule, found: ResolvedModel, signal: AbortSignal): Promise<void> {
    // A read that fails says the same, and is told instead.
    found.complete?.catch(() => {});
    this.#rate = (await module.call<{ rate: number }>("codec", filesOf(module, found), signal)).rate;
  }

  async speak(module: SessionModule, { values }: SpeakCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    this.#texts.set(id, asker);
    try {
      return await module.call("speak", { ...values, id }, signal);
    } finally {
      this.#texts.delete(id);
    }
  }

  play(id: number, samples: Float32Array): void {
    this.#texts.get(id)?.part({ kind: "samples", samples, rate: this.#rate });
  }
}
