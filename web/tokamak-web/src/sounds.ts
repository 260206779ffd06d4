// Recordings that the module writes down, which it reads as files, and sounds that it makes of texts: what comes of them
// has their numbers.
import type { Segment } from "./api.ts";
import { filesOf } from "./model_values.ts";
import type { ResolvedModel } from "./models/types.ts";
import { OpenText } from "./open_text.ts";
import type { ListenCall, SpeakCall, TranscribeCall } from "./protocol.ts";
import { type Asker, Turns } from "./pump.ts";
import type { SessionModule } from "./session_host.ts";

export type ToldSegment = Segment & { id: number };

/** Lets the module read the samples as a file while `use` runs. */
async function withFile<T>({ files }: SessionModule, samples: Float32Array, use: (id: number) => Promise<T>): Promise<T> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  const id = files.add((offset, into) => into.set(bytes.subarray(offset, offset + into.length)));
  try {
    return await use(id);
  } finally {
    files.remove(id);
  }
}

export class Sounds {
  readonly #recordings = new Map<number, Asker>();
  /** Who gets samples of the module's. */
  readonly #takers = new Map<number, Asker>();
  /** Texts that are said, by their calls. */
  readonly #texts = new Map<number, OpenText>();
  /** The module says one text after the other. */
  #spoken: Promise<unknown> = Promise.resolve();
  #last = 0;
  #rate = 0;

  /** Samples of a second of what the open model says. */
  get rate(): number {
    return this.#rate;
  }

  transcribe(module: SessionModule, { samples, values }: TranscribeCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    return withFile(module, samples, async (id) => {
      this.#recordings.set(id, asker);
      try {
        return await module.call("transcribe", { ...values, id, samples: samples.length }, signal);
      } finally {
        this.#recordings.delete(id);
      }
    });
  }

  told({ id, ...segment }: ToldSegment): void {
    this.#recordings.get(id)?.part({ kind: "segment", segment });
  }

  /** Opens the codec of the model that is open. */
  async openCodec(module: SessionModule, found: ResolvedModel, signal: AbortSignal): Promise<void> {
    // A read that fails says the same, and is told instead.
    found.complete?.catch(() => {});
    this.#rate = (await module.call<{ rate: number }>("codec", filesOf(module, found), signal)).rate;
  }

  async speak(call: number, module: SessionModule, { values, isOpen }: SpeakCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const text = new OpenText(values.text, !isOpen);
    this.#texts.set(call, text);
    const turn = this.#spoken.then(() => this.#taking(asker, (id) => this.#say(module, { ...values, id }, text, signal)));
    this.#spoken = turn.catch(() => {});
    return turn.finally(() => this.#texts.delete(call));
  }

  /** Speaks the text as far as it is there, some samples at a time; the page's calls come in between. */
  async #say(module: SessionModule, values: object, whole: OpenText, signal: AbortSignal): Promise<unknown> {
    const turns = new Turns();
    try {
      let part = await whole.take(signal);
      for (let first = true; ; first = false) {
        const { text, isLast: last } = part;
        const said = await module.call<{ more: boolean }>("speak", { ...values, text, first, last }, signal);
        if (last && !said.more) return said;
        await turns.next();
        part = said.more ? whole.now() : await whole.take(signal);
      }
    } finally {
      turns.end();
    }
  }

  write(call: number, text: string, isLast: boolean): void {
    this.#texts.get(call)?.write(text, isLast);
  }

  begun({ id, text }: { id: number; text: string }): void {
    this.#takers.get(id)?.part({ kind: "sentence", text });
  }

  listen(module: SessionModule, { samples, played }: ListenCall, asker: Asker): Promise<unknown> {
    return withFile(module, samples, (file) =>
      this.#taking(asker, (id) => module.call("talk_listen", { id, file, samples: samples.length, played })),
    );
  }

  play(id: number, samples: Float32Array): void {
    this.#takers.get(id)?.part({ kind: "samples", samples, rate: this.#rate });
  }

  async #taking<T>(asker: Asker, use: (id: number) => Promise<T>): Promise<T> {
    this.#last += 1;
    const id = this.#last;
    this.#takers.set(id, asker);
    try {
      return await use(id);
    } finally {
      this.#takers.delete(id);
    }
  }
}
