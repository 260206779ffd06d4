// Types of the API: conversations by voice.
import type { Engine, GenerateOptions, Message } from "./api.ts";
import type { SpeakOptions, TranscribeOptions } from "./sound_api.ts";

/** The player of the answers. */
export interface Loudspeaker {
  /** Samples that follow those before, and their number in a second. */
  play(samples: Float32Array, rate: number): void;
  /** Ends what plays; what a sound breaks off with clicks, so that it fades within some milliseconds. */
  stop(): void;
  /** How many of the samples since the last `stop` have been heard. */
  played(): number;
}

export interface TalkOptions {
  /** A model that hears. */
  listener: Engine;
  /** A model with a chat template. */
  answerer: Engine;
  /** A model that speaks, opened with its `codec`. */
  speaker: Engine;
  loudspeaker: Loudspeaker;
  /** The first message for the answerer. */
  system?: string;
  /** The messages before, from which the conversation goes on; in place of `system`. */
  messages?: Message[];
  /** False: nothing is heard during an answer, for loudspeakers that the microphone hears. */
  mayInterrupt?: boolean;
  /** Seconds of silence after which somebody has said what they wanted to, 0.2 to 5; 0.7 unless given. */
  pause?: number;
  hearing?: Omit<TranscribeOptions, "signal" | "onSegment" | "format">;
  /** `maxTokens` is 512 unless given. */
  answering?: Omit<GenerateOptions, "signal">;
  speaking?: Omit<SpeakOptions, "signal" | "onPiece" | "onSamples">;
}

/** A question, and as much of the answer as was heard. */
export interface Turn {
  question: string;
  answer: string;
  interrupted: boolean;
}

/**
 * `listening`: nobody speaks. `hearing`: somebody does. `transcribing`: what they said is written down. `thinking`: there is no
 * sound of the answer yet.
 */
export type TalkPhase = "listening" | "hearing" | "transcribing" | "thinking" | "speaking";

export type TalkEvent =
  | { kind: "phase"; phase: TalkPhase }
  | { kind: "question"; text: string }
  /** More of the answer as it is written. */
  | { kind: "text"; text: string }
  /** The answer is heard from here on; seconds since the end of its first sentence was written. */
  | { kind: "sound"; seconds: number }
  /** The answer is over. Without a turn nothing of it was heard: its question becomes the beginning of the next one. */
  | { kind: "end"; turn?: Turn };

/** A running conversation: what happens, to iterate over. Leaving the loop closes it. */
export interface Talk extends AsyncIterable<TalkEvent> {
  /** The messages so far: of an answer the part that was heard. */
  readonly messages: readonly Message[];
  /** Takes the microphone's sound since the last call: samples of one channel, 16,000 a second unless `rate` differs. */
  listen(samples: Float32Array, rate?: number): void;
  /** A question that is not spoken; it ends an answer that is running. */
  ask(question: string): void;
  /** Ends the answer where it is, as an interruption does. */
  stop(): void;
  /** Ends the conversation; the engines stay open. */
  close(): void;
}

export interface TalkLoopOptions {
  /** Samples of a second of the answers' sound. */
  rate: number;
  pause?: number;
  interruptions?: boolean;
}

/** The task: listen on, write down what was spoken, or answer the question. */
export interface TalkState {
  task: "listen" | "transcribe" | "answer";
  /** Whether nobody speaks and nothing is to be done. */
  idle: boolean;
  question?: string;
  /** One that is over since the last call. */
  turn?: Turn;
}

/** Whose turn it is in a spoken conversation; its calls have to wait for each other. */
export interface TalkLoop {
  /**
   * Samples of the microphone's, and how many of the answer's have been played. `taken` are done; the rest comes again, after
   * what is to be done has begun. `utterance`: what is to be written down, at 16 kHz.
   */
  listen(samples: Float32Array, played: number): Promise<TalkState & { taken: number; utterance?: Float32Array }>;
  /** The text of the utterance, or a question that was typed. */
  heard(text: string): Promise<TalkState>;
  /** More of the answer's text; the beginning of a piece of it that is said; how many samples more; that this was all. `stop`: what had been played when it was ended. */
  answer(more: { text?: string; piece?: string; samples?: number; end?: boolean; stop?: number }): Promise<TalkState>;
}
