// The messages between the page and the Worker. Every call of the page has a number, which the messages that answer it
// carry.
import type { Doing, Generation, LookOptions, Piece, Progress, Segment, WrittenCall } from "./api.ts";
import type { ErrorData } from "./errors.ts";
import type { PostedSource, StoredModel } from "./models/types.ts";

/** The options of `open` that can be posted. */
export type PostedOptions = Omit<
  LookOptions,
  "signal" | "worker" | "wasm" | "codec" | "memory" | "share" | "onProgress" | "onNotice" | "onCheck" | "onEvict"
> & {
  codec?: PostedSource;
  wasm: string;
  /** The whole module, for models that see, hear or speak, and for memories. */
  whole: string;
  /** The URL of each module's twin for browsers without JSPI; NAME.asyncify.wasm beside NAME.wasm where it is not among them. */
  twins?: Record<string, string>;
  /** The addresses of SQLite's script and its module, for memories. */
  memory?: { script: string; wasm: string };
};

export interface OpenCall {
  kind: "open" | "check" | "look";
  source: PostedSource;
  options: PostedOptions;
}
/** A verb of the module that has one answer. */
export interface VerbCall {
  kind: "verb";
  verb: string;
  values: object;
}
/** A verb of the module that has a store open while it runs; what `export` gives is a Blob. */
export interface MemoryCall {
  kind: "memory";
  verb: "add" | "search" | "list" | "forget" | "export" | "import" | "rebuild";
  values: object;
  /** The lines to import. */
  file?: Blob;
}
/** A text: pieces until the result. */
export interface GenerateCall {
  kind: "generate";
  values: object;
}
/** A recording: segments until the result. */
export interface TranscribeCall {
  kind: "transcribe";
  samples: Float32Array;
  values: object;
}
/** A text to say: sentences and samples until the result. */
export interface SpeakCall {
  kind: "speak";
  values: { text: string };
  /** More of the text follows in messages of its own. */
  isOpen: boolean;
}
/** The sound of a microphone in a conversation by voice: an utterance, where one has ended, and the result. */
export interface ListenCall {
  kind: "listen";
  samples: Float32Array;
  played: number;
}
/** A request of the OpenAI-shaped API: head, bodies, result. */
export interface OpenAiCall {
  kind: "openai";
  method: string;
  path: string;
  body: string;
}
export type Call = OpenCall | VerbCall | MemoryCall | GenerateCall | TranscribeCall | SpeakCall | ListenCall | OpenAiCall;

export type ToWorker =
  | { kind: "call"; id: number; call: Call }
  /** Ends the call: with what there is where it is a text, with `cancelled` otherwise. */
  | { kind: "cancel"; id: number }
  /** The next part of an open text that is spoken. */
  | { kind: "text"; id: number; text: string; isLast: boolean }
  | { kind: "evict"; question: number; allowed: boolean };

/** The messages before the end of a call. */
export type Part =
  | { kind: "progress"; progress: Progress }
  | { kind: "doing"; doing: Doing }
  | { kind: "piece"; piece: Piece }
  | { kind: "segment"; segment: Segment }
  | { kind: "sentence"; text: string }
  | { kind: "samples"; samples: Float32Array; rate: number }
  | { kind: "head"; status: number; contentType: string }
  | { kind: "body"; text: string };

export type ToPage =
  | { kind: "part"; id: number; part: Part }
  | { kind: "result"; id: number; result: unknown }
  | { kind: "error"; id: number; error: ErrorData }
  | { kind: "event"; event: "notice" | "lost" | "restored"; text: string }
  | { kind: "evict"; question: number; models: StoredModel[] }
  /** How many tabs have the Worker, where they share one. */
  | { kind: "tabs"; tabs: number };

/** A piece as the module gives it. */
export type WrittenPiece = Omit<Piece, "toolCalls"> & { calls?: WrittenCall[] };

/** A text's end; its text and ids have come in pieces. */
export type Ending = Omit<Generation, "text" | "ids">;

/** One event of the module's verb `step`. */
export type StepEvent =
  | ({ request: number } & WrittenPiece & { done?: never; error?: never })
  | { request: number; done: Ending; error?: never }
  | { request: number; error: ErrorData; done?: never }
  | {
      exchange: number;
      status?: number;
      contentType?: string;
      body?: string;
      end?: boolean;
    };

export interface StepReply {
  more: boolean;
  events: StepEvent[];
}
