// Recordings that the module writes down: it reads them as files, and tells each part with the file's number.
import type { Segment } from "./api.ts";
import type { TranscribeCall } from "./protocol.ts";
import type { Asker } from "./pump.ts";
import type { SessionModule } from "./session.ts";

export type ToldSegment = Segment & { id: number };

export class Recordings {
  readonly #askers = new Map<number, Asker>();

  async transcribe(module: SessionModule, { samples, values }: TranscribeCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    const id = module.files.add((offset, into) => into.set(bytes.subarray(offset, offset + into.length)));
    this.#askers.set(id, asker);
    try {
      return await module.call("transcribe", { ...values, id, samples: samples.length }, signal);
    } finally {
      module.files.remove(id);
      this.#askers.delete(id);
    }
  }

  told({ id, ...segment }: ToldSegment): void {
    this.#askers.get(id)?.part({ kind: "segment", segment });
  }
}
