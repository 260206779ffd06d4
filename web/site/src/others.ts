// Other engines of the browser's, as the page bench runs them. Their code is fetched when the visitor asks for that, from
// where the page's content security policy lets it come (head.ts), and what is used of it is written out here.

/** One text: its tokens, how long the first one took, and the others after it. */
export interface Timing {
  /** The answer, as far as the engine tells it. */
  text: string;
  tokens: number;
  firstSeconds: number;
  decodeSeconds: number;
}

export interface Runner {
  /** Answers greedily with that many tokens. */
  run(prompt: string, tokens: number): Promise<Timing>;
  close(): Promise<unknown>;
}

export interface Other {
  title: string;
  script: string;
  /** Models that are of the same weights as Qwen/Qwen3-0.6B, with f16 or without. */
  model(hasF16: boolean): string;
  about: string;
  open(model: string, hasF16: boolean, tell: (text: string) => void): Promise<Runner>;
}

/** The times at which a page gets its tokens. */
export class Stopwatch {
  readonly #began = performance.now();
  #first = 0;
  #last = 0;
  #tokens = 0;
  #text = "";

  add(tokens: number, text = ""): void {
    this.#text += text;
    this.#last = performance.now();
    this.#first ||= this.#last;
    this.#tokens += tokens;
  }

  /** A text whose tokens were counted before. */
  tell(text: string): void {
    this.#text += text;
  }

  timing(tokens = this.#tokens): Timing {
    return { text: this.#text, tokens, firstSeconds: (this.#first - this.#began) / 1000, decodeSeconds: (this.#last - this.#first) / 1000 };
  }
}

interface Transformers {
  env: { useWasmCache: boolean };
  pipeline(task: "text-generation", model: string, options: object): Promise<TransformersPipeline>;
  TextStreamer: new (tokenizer: object, options: object) => object;
}
interface TransformersPipeline {
  (prompt: string | object[], options: object): Promise<unknown>;
  tokenizer: { chat_template?: unknown };
  dispose(): Promise<unknown>;
}

interface WebLlm {
  CreateMLCEngine(model: string, options: object): Promise<WebLlmEngine>;
}
interface WebLlmEngine {
  chat: { completions: { create(request: object): Promise<AsyncIterable<WebLlmChunk>> } };
  unload(): Promise<void>;
}
interface WebLlmChunk {
  choices: { delta: { content?: string } }[];
  usage?: { completion_tokens: number };
}

export const OTHERS: Record<string, Other> = {
  transformers: {
    title: "transformers.js",
    script: "https://cdn.jsdelivr.net/npm/@huggingface/transformers@4.3.2",
    model: () => "onnx-community/Qwen3-0.6B-ONNX",
    about: "A repository with ONNX files on Hugging Face; its 4-bit weights are taken.",
    async open(model, hasF16, tell) {
      const { env, pipeline, TextStreamer } = (await import(/* @vite-ignore */ this.script)) as Transformers;
      env.useWasmCache = false; // it would run scripts from blobs
      const own = await pipeline("text-generation", model, {
        device: "webgpu",
        dtype: hasF16 ? "q4f16" : "q4",
        progress_callback: ({ status, file, progress }: { status: string; file?: string; progress?: number }) =>
          tell([status, file, progress !== undefined && `${Math.round(progress)} %`].filter(Boolean).join(" ")),
      });
      return {
        run: async (prompt, tokens) => {
          const watch = new Stopwatch();
          const streamer = new TextStreamer(own.tokenizer, {
            skip_prompt: true,
            callback_function: (text: string) => watch.tell(text),
            token_callback_function: (ids: unknown[]) => watch.add(ids.length),
          });
          const given = own.tokenizer.chat_template ? [{ role: "user", content: prompt }] : prompt;
          await own(given, { max_new_tokens: tokens, min_new_tokens: tokens, do_sample: false, streamer });
          return watch.timing();
        },
        close: () => own.dispose(),
      };
    },
  },
  webllm: {
    title: "WebLLM",
    script: "https://cdn.jsdelivr.net/npm/@mlc-ai/web-llm@0.2.86/lib/index.js",
    model: (hasF16) => (hasF16 ? "Qwen3-0.6B-q4f16_1-MLC" : "Qwen3-0.6B-q4f32_1-MLC"),
    about: "One of its list of prebuilt models.",
    async open(model, _, tell) {
      const { CreateMLCEngine } = (await import(/* @vite-ignore */ this.script)) as WebLlm;
      const own = await CreateMLCEngine(model, { initProgressCallback: ({ text }: { text: string }) => tell(text) });
      return {
        run: async (prompt, tokens) => {
          const watch = new Stopwatch();
          const request = { messages: [{ role: "user", content: prompt }], max_tokens: tokens, temperature: 0, ignore_eos: true };
          let made: number | undefined;
          for await (const { choices, usage } of await own.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } })) {
            if (choices[0]?.delta.content) watch.add(1, choices[0].delta.content);
            made = usage?.completion_tokens ?? made;
          }
          return watch.timing(made);
        },
        close: () => own.unload(),
      };
    },
  },
};
