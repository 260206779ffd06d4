// The addon of node/addon: its functions, and how it is loaded.
import { constants } from "node:os";
import { TokamakError } from "./errors.ts";
import type { Generation, Piece } from "./text_api.ts";
import { findAddon } from "./platform.ts";

declare const kind: unique symbol;
type External<Name> = { readonly [kind]: Name };
export type ModelHandle = External<"model">;
export type FlowHandle = External<"flow">;
export type SpeechHandle = External<"speech">;
export type Cancellation = External<"cancellation">;

/** Names and values of options in turns. */
export type Pairs = string[];

/** A function with a last parameter `cancellation` fails as cancelled within a step once that is cancelled. */
export interface Addon {
  version(): string;
  setErrorClass(errors: typeof TokamakError): void;
  cancellation(): Cancellation;
  cancel(what: Cancellation | FlowHandle): void;
  endAll(): void;

  listDevices(): Promise<string>;
  listModels(): Promise<string>;
  locate(name: string): Promise<string>;
  pull(
    name: string,
    onProgress: (stage: number, text: string, done: number, total: number) => void,
    cancellation: Cancellation,
  ): Promise<string>;

  open(
    options: Pairs,
    onProgress: (phase: number, done: number, total: number) => void,
    onNotice: ((text: string) => void) | undefined,
    cancellation: Cancellation,
  ): Promise<[ModelHandle, string]>;
  close(model: ModelHandle): Promise<void>;

  tokenize(model: ModelHandle, text: string, addSpecial: boolean): Promise<Uint32Array>;
  detokenize(model: ModelHandle, ids: Uint32Array): Promise<string>;
  render(model: ModelHandle, variables: string): Promise<string>;
  /** A promise where the request is long: another thread prepares it. */
  start(
    model: ModelHandle,
    options: Pairs,
    ids: Uint32Array | undefined,
    messages: [role: string, content: string, images: Uint8Array[]][],
    onPiece: (piece: Piece) => void,
    onEnd: (error: unknown, result: Generation) => void,
    isLong: boolean,
  ): FlowHandle | Promise<FlowHandle>;
  /** A promise where the body is long: another thread prepares it. */
  call(
    model: ModelHandle,
    path: string,
    body: string,
    onPart: (part: [status: number, contentType: string, bytes: Uint8Array]) => void,
    onEnd: () => void,
    isLong: boolean,
  ): FlowHandle | Promise<FlowHandle>;

  embed(model: ModelHandle, texts: string[], options: Pairs, cancellation: Cancellation): Promise<Float32Array>;
  rerank(model: ModelHandle, query: string, documents: string[], options: Pairs, cancellation: Cancellation): Promise<Float32Array>;
  logits(model: ModelHandle, ids: Uint32Array, numbers: Float32Array, options: Pairs, cancellation: Cancellation): Promise<Float32Array>;

  transcribe(
    model: ModelHandle,
    sound: Float32Array | Uint8Array,
    options: Pairs,
    format: string,
    onSegment: ((start: number, end: number, text: string) => void) | undefined,
    cancellation: Cancellation,
  ): Promise<[json: string, file: string]>;
  speak(
    model: ModelHandle,
    text: string,
    options: Pairs,
    speaker: Float32Array | undefined,
    onSamples: ((samples: Float32Array, rate: number) => void) | undefined,
    cancellation: Cancellation,
  ): Promise<[SpeechHandle, Float32Array, number]>;
  encode(speech: SpeechHandle, format: string): Promise<Uint8Array>;
}

function load(file: string): Addon {
  const module = { exports: {} as Addon };
  const { RTLD_LAZY, RTLD_DEEPBIND = 0 } = constants.dlopen as { RTLD_LAZY?: number; RTLD_DEEPBIND?: number };
  // Node's program has an OpenSSL and a zlib of its own, which would take the place of those that the library was built with.
  process.dlopen(module, file, (RTLD_LAZY ?? 1) | RTLD_DEEPBIND);
  return module.exports;
}

let loaded: Addon | undefined;

/** The addon, which the first call loads. */
export function addon(): Addon {
  if (!loaded) {
    const found = findAddon(load);
    found.setErrorClass(TokamakError);
    // The threads of models end before the process does.
    process.once("exit", () => found.endAll());
    loaded = found;
  }
  return loaded;
}
