// The types of the API. Sizes are bytes, times seconds.
import type { Sound, SpeakOptions, Speech, TranscribeOptions, Transcript } from "./sound_api.ts";
import type { GenerateOptions, Message, Run } from "./text_api.ts";

export type * from "./sound_api.ts";
export type * from "./text_api.ts";

export interface Progress {
  /** `look-up` to `verify`: a model that is fetched; `read` to `ready`: one that is opened. */
  phase: "look-up" | "wait" | "download" | "verify" | "read" | "upload" | "compile" | "ready";
  /** Bytes; 0 of 0 where they do not count. */
  loaded: number;
  total: number;
  /** All phases together, 0 to 1; never falls. */
  overall: number;
  /** The file that is looked up or fetched, or why it waits. */
  file?: string;
}

export interface PullOptions {
  signal?: AbortSignal;
  onProgress?(progress: Progress): void;
}

export interface OpenOptions extends PullOptions {
  /** `auto`, unless given: the best device; the processor where there is no GPU. */
  backend?: "auto" | "cuda" | "webgpu" | "cpu" | "cpu-reference";
  /** The number of a device of the backend; `listDevices` has them. */
  device?: number;
  /** CUDA devices that run the model together, each with a part of its weights. */
  gpus?: number[];
  /** The part that each of them has: of every layer (`ranks`), or some `layers`; `auto`, unless given: ranks where they can be. */
  split?: "auto" | "ranks" | "layers";
  /** Threads of the backend `cpu`; one for each core unless given. */
  threads?: number;
  /** Tokens of a text and its prompt; unless given what the model allows, at most 32768, or what half of the free memory has room for. */
  context?: number;
  /** Texts that are generated side by side; others wait. 1 unless given. */
  sequences?: number;
  /** Tokens of all texts together that the cache has room for. */
  cacheTokens?: number;
  /** The most that the model may take of the device's memory: "6GiB", or "70%" of what is free. */
  maxMemory?: string;
  kv?: "auto" | "f16" | "f32" | "q8";
  quantize?: "q8" | "q4";
  pooling?: "mean" | "last" | "cls";
  /** How large images are read, where the model sees: larger ones are made smaller. 0, unless given: text only. */
  megapixels?: number;
  /** The file of a GGUF model's tower of images; unless given, `mmproj-*.gguf` beside it. */
  projector?: string;
  /** auto, or exact: kernels round nothing that they multiply, which is slower. */
  precision?: string;
  /** Every seed gives the same tokens whatever else the model does at the time. */
  batchInvariant?: boolean;
  /** Tokens that are guessed: off, auto, lookup[:N] or draft[:N]. */
  speculate?: string;
  /** A smaller model with the same tokenizer, which guesses. */
  draft?: string;
  /** Low-rank adapters that texts may choose, each [NAME=]FOLDER[=SCALE]. */
  adapters?: string[];
  /** The codec of a model that speaks; the one beside the model unless given. */
  codec?: string;
  /** False: a model of the hub that is not on this machine is an error, and is not fetched. */
  pull?: boolean;
  /** Receives what a person should know, a sentence at a time, as long as the model is open. */
  onNotice?(text: string): void;
}

export interface ModelFacts {
  name: string;
  architecture: string;
  /** The name of the device that it runs on. */
  device: string;
  /** Tokens of a text and its prompt that fit. */
  context: number;
  sequences: number;
  vocabulary: number;
  /** Whether it gives vectors in place of texts, and how many numbers each has. */
  embeds: boolean;
  dimensions: number;
  /** Names for the `prompt` of `embed`. */
  embedPrompts: string[];
  /** Bytes on the device. */
  deviceBytes: number;
}

export interface EmbedOptions {
  /** The name of one of `model.embedPrompts`, "": none; the model's default unless given. */
  prompt?: string;
  /** The first of the numbers only. */
  dimensions?: number;
  normalize?: boolean;
  /** Cut texts that do not fit, instead of an error. */
  truncate?: boolean;
  signal?: AbortSignal;
}

export interface RerankOptions {
  /** The instruction on what makes a document a good one, for models that take one; as trained unless given. */
  instruction?: string;
  /** Cut documents that do not fit; true unless given. */
  truncate?: boolean;
  /** How many are given at most. */
  limit?: number;
  signal?: AbortSignal;
}

/** A document by its place in the list. */
export interface Ranked {
  index: number;
  score: number;
}

export interface LogitsOptions {
  adapter?: string;
  signal?: AbortSignal;
}

/** An answer of the OpenAI-shaped API. */
export interface Exchange {
  status: number;
  contentType: string;
  body: ReadableStream<Uint8Array>;
}

/** A model that is open. */
export interface Engine {
  readonly model: ModelFacts;
  /** Continues a text or, given as tokens, a prompt. */
  generate(prompt: string | Iterable<number>, options?: GenerateOptions): Run;
  chat(messages: Message[], options?: GenerateOptions): Run;
  tokenize(text: string, options?: { special?: boolean }): Promise<Uint32Array>;
  detokenize(ids: Iterable<number>): Promise<string>;
  /** The prompt that the model's template makes of messages. */
  render(messages: Message[], variables?: object): Promise<string>;
  embed(texts: string | string[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** The documents by how well they answer the query, the best first: by a cross-encoder, or a model as Qwen3-Reranker. */
  rerank(query: string, documents: string[], options?: RerankOptions): Promise<Ranked[]>;
  /** The logits after the last of some tokens, before any rule of sampling; with `all` after each of them. */
  logits(ids: Iterable<number>, options?: LogitsOptions & { all?: false }): Promise<Float32Array>;
  logits(ids: Iterable<number>, options: LogitsOptions & { all: true }): Promise<Float32Array[]>;
  /** Writes down a recording, by a speech-to-text model. */
  transcribe(sound: Sound, options?: TranscribeOptions): Promise<Transcript>;
  /** A text as sound, by a model that speaks. */
  speak(text: string, options?: SpeakOptions): Promise<Speech>;
  /** A request of the OpenAI-shaped API; `openaiFetch` makes a `fetch` of it. */
  exchange(request: { method: string; path: string; body: string }, options?: { signal?: AbortSignal }): Promise<Exchange>;
  /** Ends what runs as cancelled, and frees the memory; later calls are errors. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Device {
  backend: string;
  /** The option `device`. */
  number: number;
  name: string;
  driver: string;
  isSoftware: boolean;
}

export interface StoredModel {
  name: string;
  commit: string;
  revisions: string[];
  folder: string;
  files: string[];
  bytes: number;
  partialBytes: number;
  /** The reason why it cannot be opened; "" where it can. */
  missing: string;
}
