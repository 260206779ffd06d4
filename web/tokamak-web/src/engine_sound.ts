// The sound that an engine takes and makes, over its connection.
import type { SpeakOptions, Speech, TalkLoop, TalkState, TranscribeOptions, Transcript } from "./api.ts";
import type { Connection, Sent } from "./connection.ts";
import { MadeSound } from "./made_sound.ts";

export async function transcribed(connection: Connection, samples: Float32Array, options: TranscribeOptions): Promise<Transcript> {
  const { signal, onSegment, ...values } = options;
  let told = 0;
  let again = 0;
  const { result } = connection.send(
    { kind: "transcribe", samples, values },
    (part) => {
      // A segment that a new Worker repeats is known already.
      if (part.kind === "segment" && ++again > told) {
        told = again;
        onSegment?.(part.segment);
      }
    },
    signal,
    () => {
      again = 0;
      return true;
    },
  );
  return (await result) as Transcript;
}

export async function said(connection: Connection, text: string | AsyncIterable<string>, options: SpeakOptions): Promise<Speech> {
  const { signal, onPiece, onSamples, ...values } = options;
  const made = new MadeSound({ ...(onPiece && { onPiece }), ...(onSamples && { onSamples }) });
  const isWhole = typeof text === "string";
  const sent = connection.send(
    { kind: "speak", values: { ...values, text: isWhole ? text : "" }, isOpen: !isWhole },
    (part) => {
      if (part.kind === "sentence") made.begin(part.text);
      else if (part.kind === "samples") made.add(part.samples, part.rate);
    },
    signal,
    () => made.repeat(),
  );
  // Both may fail: whichever is first is told.
  const [facts] = await Promise.all([sent.result, isWhole ? undefined : written(text, sent)]);
  return made.end(facts as { pieces: number; cut: number });
}

/** Hands over a text as it comes; where it fails, what says it is cancelled. */
async function written(text: AsyncIterable<string>, { write, cancel }: Sent): Promise<void> {
  try {
    for await (const part of text) write(part, false);
    write("", true);
  } catch (error) {
    cancel();
    throw error;
  }
}

export async function listened(connection: Connection, samples: Float32Array, played: number): ReturnType<TalkLoop["listen"]> {
  let utterance: Float32Array | undefined;
  const { result } = connection.send(
    { kind: "listen", samples, played },
    (part) => {
      if (part.kind === "samples") utterance = part.samples;
    },
    undefined,
    () => false, // a new Worker does not know what was said before
  );
  return { ...((await result) as TalkState & { taken: number }), ...(utterance && { utterance }) };
}
