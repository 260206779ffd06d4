// Types of the API: recordings that are written down, and texts that are said.

/** Samples of one channel at 16 kHz; or a file of sound: its bytes, or its path. */
export type Sound = Float32Array | Uint8Array | Blob | string | URL;

/** A part of a transcript; times are seconds from the beginning of the recording. */
export interface Segment {
  start: number;
  end: number;
  text: string;
}

export interface Transcript {
  text: string;
  /** The language, such as "en"; absent where it is not known. */
  language?: string;
  /** Seconds. */
  duration: number;
  segments: (Segment & { tokens: number[] })[];
  /** The file, where a format was given. */
  file?: string;
}

export interface TranscribeOptions {
  /** The language, such as "en"; detected unless given, where the model knows several. */
  language?: string;
  /** Into English. */
  translate?: boolean;
  /** The text before: names, spelling. */
  prompt?: string;
  temperature?: number;
  /** False: segments are whole windows. */
  timestamps?: boolean;
  /** False: one attempt, also where the text looks wrong. */
  fallback?: boolean;
  seed?: number;
  /** The transcript as a file, too, for `file` of the answer. */
  format?: "text" | "json" | "srt" | "vtt";
  signal?: AbortSignal;
  /** Each part as soon as it is there. */
  onSegment?(segment: Segment): void;
}

export interface SpeakOptions {
  /** The codec that makes sound of what the model writes; that of `open`, or the one beside the model, unless given. */
  codec?: string;
  /** A tag that the model knows, as "en". */
  language?: string;
  /** The numbers that describe a speaker; the model's own voice unless given. */
  speaker?: number[];
  seed?: number;
  temperature?: number;
  maxTokens?: number;
  topK?: number;
  topP?: number;
  repetitionPenalty?: number;
  signal?: AbortSignal;
  /** Samples as they are made, from -1 to 1, with their number in a second. */
  onSamples?(samples: Float32Array, rate: number): void;
}

export interface Speech {
  samples: Float32Array;
  /** Samples of a second. */
  rate: number;
  /** The bytes of a file. */
  encode(format: "wav" | "flac" | "opus" | "mp3" | "pcm"): Promise<Uint8Array>;
}
