// A model that is open.
import { randomInt } from "node:crypto";
import { addon, type FlowHandle, type ModelHandle } from "./addon.ts";
import type {
  EmbedOptions,
  Engine,
  Exchange,
  GenerateOptions,
  LogitsOptions,
  Message,
  ModelFacts,
  Ranked,
  RerankOptions,
  Run,
  Sound,
  SpeakOptions,
  Speech,
  TranscribeOptions,
  Transcript,
} from "./api.ts";
import { Calls, cancellable } from "./calls.ts";
import { exchange } from "./exchange.ts";
import { bytesOf, chatOf, type PlainMessage } from "./messages.ts";
import { idsOf, pairsOf } from "./options.ts";
import { ActiveRun } from "./run.ts";

/** Seeds that a number holds exactly, for texts that are given none. */
const SEEDS = 2 ** 48;

/** Characters of a request and tokens of its prompt, above which the event loop does not wait until it is prepared. */
const LONG = 4096;

interface Prompt {
  options?: object;
  ids?: Uint32Array;
  messages?: PlainMessage[] | Promise<PlainMessage[]>;
}

/** The options of a text for the addon, but those that a chat's template takes. */
function requestOptions({ signal, tools, templateVariables, logprobs, jsonSchema, endIds, logitBias, seed, ...plain }: GenerateOptions): object {
  return {
    ...plain,
    ...(logprobs !== undefined && { logprobs: true, topLogprobs: logprobs }),
    ...(jsonSchema !== undefined && { jsonSchema: JSON.stringify(jsonSchema) }),
    ...(endIds !== undefined && { endIds: endIds.join(",") }),
    ...(logitBias !== undefined && { logitBias: Object.entries(logitBias).map(([id, bias]) => `${id}:${bias}`) }),
    seed: seed ?? randomInt(SEEDS - 1),
  };
}

/** The rows of a block of numbers. */
function rowsOf(numbers: Float32Array, rows: number): Float32Array[] {
  const columns = rows && numbers.length / rows;
  return Array.from({ length: rows }, (_, row) => numbers.subarray(row * columns, (row + 1) * columns));
}

function isLong(pairs: string[], ids: Uint32Array | undefined, messages: PlainMessage[]): boolean {
  const texts = [...pairs, ...messages.map(([, content]) => content)];
  const size = texts.reduce((sum, text) => sum + text.length, ids?.length ?? 0);
  return size > LONG || messages.some(([, , images]) => images.length > 0);
}

export class ModelEngine implements Engine {
  readonly model: ModelFacts;
  readonly #handle: ModelHandle;
  readonly #codec: string | undefined;

  constructor(handle: ModelHandle, details: string, codec: string | undefined) {
    const { dimensions, embed_prompts: embedPrompts, device_bytes: deviceBytes, ...facts } = JSON.parse(details);
    this.model = { ...facts, embeds: dimensions > 0, dimensions, embedPrompts, deviceBytes };
    this.#handle = handle;
    this.#codec = codec;
  }

  generate(prompt: string | Iterable<number>, options: GenerateOptions = {}): Run {
    return this.#run(() => (typeof prompt === "string" ? { options: { prompt } } : { ids: idsOf(prompt) }), options);
  }

  chat(messages: Message[], options: GenerateOptions = {}): Run {
    return this.#run(() => {
      const variables = { ...options.templateVariables, ...(options.tools && { tools: options.tools }) };
      const chat = chatOf(messages, variables);
      const hasVariables = Object.keys(chat.variables).length > 0;
      return {
        messages: chat.messages,
        ...(hasVariables && { options: { chatVariables: JSON.stringify(chat.variables) } }),
      };
    }, options);
  }

  #run(promptOf: () => Prompt, options: GenerateOptions): Run {
    return new ActiveRun((onPiece, onEnd): FlowHandle | Promise<FlowHandle> => {
      const prompt = promptOf();
      const pairs = pairsOf({ ...requestOptions(options), ...prompt.options });
      const start = (messages: PlainMessage[]) =>
        addon().start(this.#handle, pairs, prompt.ids, messages, onPiece, onEnd, isLong(pairs, prompt.ids, messages));
      const { messages = [] } = prompt;
      return messages instanceof Promise ? messages.then(start) : start(messages);
    }, options.signal);
  }

  async tokenize(text: string, { special = true }: { special?: boolean } = {}): Promise<Uint32Array> {
    return addon().tokenize(this.#handle, text, special);
  }

  async detokenize(ids: Iterable<number>): Promise<string> {
    return addon().detokenize(this.#handle, idsOf(ids));
  }

  async render(messages: Message[], variables: object = {}): Promise<string> {
    return addon().render(this.#handle, JSON.stringify({ add_generation_prompt: true, ...variables, messages }));
  }

  async embed(texts: string | string[], { signal, ...options }: EmbedOptions = {}): Promise<Float32Array[]> {
    const all = typeof texts === "string" ? [texts] : texts;
    const numbers = await cancellable((cancellation) => addon().embed(this.#handle, all, pairsOf(options), cancellation), signal);
    return rowsOf(numbers, all.length);
  }

  async rerank(query: string, documents: string[], { signal, limit, ...options }: RerankOptions = {}): Promise<Ranked[]> {
    const scores = await cancellable(
      (cancellation) => addon().rerank(this.#handle, query, documents, pairsOf(options), cancellation),
      signal,
    );
    const ranked = Array.from(scores, (score, index) => ({ index, score })).sort((a, b) => b.score - a.score);
    return ranked.slice(0, limit);
  }

  logits(ids: Iterable<number>, options?: LogitsOptions & { all?: false }): Promise<Float32Array>;
  logits(ids: Iterable<number>, options: LogitsOptions & { all: true }): Promise<Float32Array[]>;
  async logits(ids: Iterable<number>, { signal, ...options }: LogitsOptions & { all?: boolean } = {}): Promise<Float32Array | Float32Array[]> {
    const tokens = idsOf(ids);
    const rows = options.all ? tokens.length : 1;
    const numbers = new Float32Array(rows * this.model.vocabulary);
    await cancellable((cancellation) => addon().logits(this.#handle, tokens, numbers, pairsOf(options), cancellation), signal);
    return options.all ? rowsOf(numbers, rows) : numbers;
  }

  async transcribe(sound: Sound, { signal, format, onSegment, ...options }: TranscribeOptions = {}): Promise<Transcript> {
    const recording = sound instanceof Float32Array ? sound : await bytesOf(sound);
    const calls = new Calls();
    const receive = calls.guard(onSegment && ((start: number, end: number, text: string) => onSegment({ start, end, text })));
    const [json, file] = await calls.run(
      () => addon().transcribe(this.#handle, recording, pairsOf(options), format ?? "", receive, calls.cancellation),
      signal,
    );
    return { ...(JSON.parse(json) as Transcript), ...(format && { file }) };
  }

  async speak(text: string, { signal, speaker, onSamples, codec = this.#codec, ...options }: SpeakOptions = {}): Promise<Speech> {
    const calls = new Calls();
    const numbers = speaker && Float32Array.from(speaker);
    const receive = calls.guard(onSamples && ((samples: Float32Array, rate: number) => onSamples(samples, rate)));
    const [speech, samples, rate] = await calls.run(
      () => addon().speak(this.#handle, text, pairsOf({ ...options, codec }), numbers, receive, calls.cancellation),
      signal,
    );
    return { samples, rate, encode: async (format) => addon().encode(speech, format) };
  }

  exchange(request: { method: string; path: string; body: string }, options: { signal?: AbortSignal } = {}): Promise<Exchange> {
    return exchange(this.#handle, request, options.signal);
  }

  async close(): Promise<void> {
    await addon().close(this.#handle);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
