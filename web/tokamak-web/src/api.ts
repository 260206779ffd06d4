// The types of the API. Sizes are bytes, times seconds.
import type { Adapter, AssumedDevice, Check, LoadTimes, ModelFacts } from "./facts.ts";
import type { Inspect } from "./inspect_api.ts";
import type { DocumentMemory, Quoter } from "./memory_api.ts";
import type { BenchOptions, BenchReport, KernelCatalogue, KernelChange, KernelPlace, KernelText, LongOptions, SelfTestReport, StepProfile } from "./report_api.ts";
import type { Source, StoredModel } from "./models/types.ts";
import type { EmbedOptions, Ranked, RerankOptions } from "./retrieval_api.ts";
import type { Sound, SpeakOptions, Speech, TranscribeOptions, Transcript } from "./sound_api.ts";
import type { TalkLoop, TalkLoopOptions } from "./talk_api.ts";
import type { ChatAnswer, Tool, ToolCall } from "./tools_api.ts";

export type * from "./facts.ts";
export type * from "./inspect_api.ts";
export type * from "./report_api.ts";
export type * from "./retrieval_api.ts";
export type * from "./sound_api.ts";
export type * from "./talk_api.ts";
export type * from "./tools_api.ts";

export interface Progress {
  phase:
    | "look-up"
    | "download"
    | "verify"
    | "read"
    | "self-test"
    | "compile"
    | "upload"
    | "warm-up"
    | "ready";
  /** Bytes; in `compile` and `self-test` pipelines. */
  loaded: number;
  total: number;
  /** All phases together, 0 to 1; never falls. */
  overall: number;
  /** Whether the bytes were in the browser already. */
  cached: boolean;
  file?: string;
  bytesPerSecond?: number;
}

/** SQLite, which memories are kept by: its script and its module. */
export interface MemoryFiles {
  script: URL | string;
  wasm: URL | string;
}

export interface OpenOptions {
  /**
   * `auto`, unless given: the GPU where there is one, else the processor (`cpu`), with a notice. `webgpu` takes a software driver as
   * well; `cpu-reference` is the plain code that kernels are checked against, and slow.
   */
  backend?: "auto" | "webgpu" | "cpu" | "cpu-reference";
  /** Tokens; the model's own, at most 4,096, unless given. */
  context?: number;
  kv?: "auto" | "f16" | "f32";
  /** Texts that are generated side by side. */
  sequences?: number;
  /** Tokens of all texts together that the cache has room for. */
  cacheTokens?: number;
  quantize?: "q8" | "q4";
  pooling?: "mean" | "last" | "cls";
  /** The codec that makes sound of a speech model's output: a folder with config.json and model.safetensors. */
  codec?: Source;
  /** How large images are read, where the model sees: larger ones are made smaller. 0: text only. 1 unless given. */
  megapixels?: number;
  /** Has `engine.memory` there, which takes the whole module: `memory` of `tokamak-web/memory`, or where its files lie. */
  memory?: MemoryFiles;
  /** Tokens of a prompt that are read at a time. */
  chunk?: number;
  cache?: "opfs" | "none";
  selfTest?: boolean;
  /** Breaks a kernel, to show or to test what the self-test makes of it. Nothing that is found so is kept. */
  alter?: KernelChange;
  /** Ask for the limits that every device has, in place of the adapter's. */
  defaultLimits?: boolean;
  /** Dispatches of one submission; 0: all of a step. Unless given, what has turned out that this device survives. */
  submitDispatches?: number;
  /** False: without this feature, though the device has it. */
  f16?: boolean;
  subgroups?: boolean;
  token?: string;
  endpoint?: string;
  signal?: AbortSignal;
  /** The Worker's script, or the Worker itself, where the one beside this module is not reachable. */
  worker?: URL | string | Worker;
  /** tokamak_web.wasm; tokamak_web_whole.wasm and, for browsers without JSPI, their twins are expected beside it. */
  wasm?: URL | string;
  /** How the module waits; what the browser has unless given. */
  wait?: "jspi" | "asyncify";
  /**
   * Whether tabs of this origin that open the same model with the same options have one engine together. The first one runs it; where that tab is
   * closed another one opens the model again, and texts go on. `sequences` is the number of texts that are generated side by side. A model of files,
   * and a browser without Web Locks, has an engine for each tab.
   */
  share?: boolean;
  onProgress?(progress: Progress): void;
  onNotice?(text: string): void;
  /** Takes the findings of `check`, before anything is downloaded; false ends the opening with the code `cancelled`. */
  onCheck?(found: Check): boolean | void | Promise<boolean | void>;
  /** Whether these models may be removed to make room; nothing is removed unless it says so. */
  onEvict?(models: StoredModel[]): boolean | Promise<boolean>;
}

export interface LookOptions extends OpenOptions {
  /** The device that the model is looked at for, in place of this one, which then is not needed. */
  device?: AssumedDevice;
}

/** An image as a page has it: the file, or what was drawn. */
export interface ImagePart {
  type: "image";
  image: Blob | ImageBitmap;
}

/** A part of a message, as in OpenAI's chats; images are `data:` addresses there, nothing is fetched. */
export type Part =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | ImagePart;

export type Message = {
  role: "system" | "user" | "assistant" | "tool";
  content: string | Part[];
  [more: string]: unknown;
};

export interface GenerateOptions {
  maxTokens?: number;
  /** No end token comes before these. */
  minTokens?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  typicalP?: number;
  repetitionPenalty?: number;
  /** -2 to 2: taken off the logits of tokens that were generated, once, and for every time. */
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Added to the logits of tokens, by their ids. */
  logitBias?: Record<number, number>;
  seed?: number;
  stop?: string[];
  /** Tokens that end the text; those of the model unless given, `[]`: none. */
  endIds?: number[];
  grammar?: string;
  jsonSchema?: object;
  regex?: string;
  /** The text is one of these. */
  choices?: string[];
  /** Alternatives that are told for each token. */
  logprobs?: number;
  priority?: number;
  /** The text after the gap that is filled. */
  suffix?: string;
  /** Images for which a prompt has places, in their order; in a chat they are parts of messages. */
  images?: (Blob | ImageBitmap)[];
  tools?: Tool[];
  templateVariables?: object;
  /** Ends the text with what there is, as `cancel` does. */
  signal?: AbortSignal;
}

export interface TokenLogprob {
  id: number;
  logprob: number;
}

export interface Logprob extends TokenLogprob {
  /** The likeliest tokens, as many as were asked for. */
  top: TokenLogprob[];
}

export interface Piece {
  text: string;
  ids: number[];
  logprobs?: Logprob[];
  /** In a chat the reasoning, which comes before the text, and the calls that have become whole. */
  reasoning?: string;
  toolCalls?: ToolCall[];
}

export interface Generation {
  text: string;
  ids: number[];
  tokens: number;
  finish: "end" | "stop" | "length" | "context" | "cancelled" | "grammar";
  /** The stop text that was found, "" if none. */
  stop: string;
  seed: number;
  promptTokens: number;
  cachedTokens: number;
  prefillSeconds: number;
  decodeSeconds: number;
}

/** A running text: its pieces as they come, and all of it. Leaving the loop cancels. */
export interface Run<End extends Generation = Generation> extends AsyncIterable<Piece> {
  readonly result: Promise<End>;
  /** Ends the text with what there is; `result` has it, with `finish: "cancelled"`. */
  cancel(): void;
}

/**
 * The events of an engine, each with a sentence. `lost` and `restored`: the device, while texts go on. `stopped` and
 * `reopened`: the Worker, in whose place there is a new one; texts go on as well.
 */
export type EngineEvent = "notice" | "lost" | "restored" | "stopped" | "reopened";

export interface EngineState {
  /** `reopening`: the Worker has stopped, and the model is being opened in a new one. */
  status: "ready" | "busy" | "reopening" | "closed" | "crashed";
  /** Texts, requests and measurements that are running or waiting. */
  runs: number;
  /** Tokens of all texts so far. */
  tokens: number;
  /** Whether the device is lost at the moment. */
  lost: boolean;
  /** Tabs that have the engine together, with this one. */
  tabs: number;
  lastResult?: Generation;
  lastNotice?: string;
}

/** An answer of the OpenAI-shaped API. */
export interface Exchange {
  status: number;
  contentType: string;
  body: ReadableStream<string>;
}

/** A model that can be looked at. */
export interface Look {
  readonly model: ModelFacts;
  /** The device of the model: the browser's GPU, or the CPU. */
  readonly adapter: Adapter;
  tokenize(text: string, options?: { special?: boolean }): Promise<Uint32Array>;
  /** Tokenizes like `tokenize`, with the text of each token; bytes that are no whole character are "\ufffd". */
  tokens(text: string, options?: { special?: boolean }): Promise<{ id: number; text: string }[]>;
  detokenize(ids: Iterable<number>): Promise<string>;
  /** The prompt that the model's template makes of messages. */
  render(messages: Message[], variables?: object): Promise<string>;
  /** A view of the model as text, or in the form "json" as data. */
  readonly inspect: Inspect;
  /** Every WGSL kernel and variant, and the steps of the plan that run it. */
  kernels(): Promise<KernelCatalogue>;
  /** The kernel of a step of the plan, its WGSL, and why no other variant runs. */
  kernel(place: KernelPlace): Promise<KernelText>;
  /** Adds a listener; the function that it returns removes it. */
  on(event: EngineEvent, listener: (text: string) => void): () => void;
  close(): Promise<void>;
}

export interface Engine extends Look, Quoter {
  /** Sampling as the model recommends it; empty where it gives vectors. */
  readonly defaults: GenerateOptions;
  readonly loadTimes: LoadTimes;
  /** Pipelines that were compiled. */
  readonly pipelines: number;
  /** Samples of a second of what it says; 0 where it was opened without a `codec`. */
  readonly soundRate: number;
  /** Continues a text or, given as tokens, a prompt. */
  generate(prompt: string | number[], options?: GenerateOptions): Run;
  /** Answers a chat; reasoning and calls come apart from the text. */
  chat(messages: Message[], options?: GenerateOptions): Run<ChatAnswer>;
  embed(texts: string | string[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** The documents by how well they answer the query, the best first: by a cross-encoder, or a model as Qwen3-Reranker. */
  rerank(query: string, documents: string[], options?: RerankOptions): Promise<Ranked[]>;
  /**
   * The memory of that name, "memory" unless given, with this model's vectors: an embedding model, or one that was opened
   * with a `pooling`. Takes the option `memory` of `open`.
   */
  memory(name?: string): DocumentMemory;
  /** Writes down a recording, by a speech-to-text model. */
  transcribe(sound: Sound, options?: TranscribeOptions): Promise<Transcript>;
  /**
   * A text as sound, by a model that speaks and was opened with a `codec`. One that comes part by part is said sentence by
   * sentence while the rest is written.
   */
  speak(text: string | AsyncIterable<string>, options?: SpeakOptions): Promise<Speech>;
  /** Whose turn it is in a conversation by voice, in the Worker of a model that hears; `talk` has the rest of it. */
  talkLoop(options: TalkLoopOptions): Promise<TalkLoop>;
  bench(options?: BenchOptions): Promise<BenchReport>;
  profile(options?: object & { signal?: AbortSignal }): Promise<StepProfile>;
  selfTest(options?: LongOptions): Promise<SelfTestReport>;
  /** A request of the OpenAI-shaped API; `openaiFetch` makes a `fetch` of it. */
  exchange(
    request: { method: string; path: string; body: string },
    options?: { signal?: AbortSignal },
  ): Promise<Exchange>;
  readonly store: { subscribe(listener: () => void): () => void; getSnapshot(): EngineState };
  /** Ends every run with an error of code `cancelled`, and the Worker. */
  close(): Promise<void>;
}
