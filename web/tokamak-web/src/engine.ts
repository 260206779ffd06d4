// An open model, as the page has it: everything happens in the Worker at the end of the connection.
import type {
  Adapter,
  BenchOptions,
  BenchReport,
  ChatAnswer,
  Doing,
  EmbedOptions,
  Engine,
  EngineEvent,
  EngineState,
  Exchange,
  GenerateOptions,
  Generation,
  Inspect,
  InspectOptions,
  KernelCatalogue,
  KernelPlace,
  KernelText,
  LoadTimes,
  LongOptions,
  Message,
  ModelFacts,
  Ranked,
  RerankOptions,
  SelfTestReport,
  Sound,
  SpeakOptions,
  Speech,
  StepProfile,
  TalkLoop,
  TalkLoopOptions,
  TranscribeOptions,
  Transcript,
  View,
  Views,
} from "./api.ts";
import type { Connection } from "./connection.ts";
import { listened, said, transcribed } from "./engine_sound.ts";
import { TokamakError } from "./errors.ts";
import { openExchange } from "./exchange.ts";
import type { DocumentMemory, Hit, QuoteOptions, Recalled } from "./memory_api.ts";
import type { Call, Ending } from "./protocol.ts";
import { randomSeed } from "./random.ts";
import { ReplayedText } from "./replay.ts";
import { ActiveRun } from "./run.ts";
import { samplesOf } from "./sound.ts";
import { Store } from "./store.ts";
import { answerMessage } from "./tool_calls.ts";
import { type Ask, WorkerMemory } from "./worker_memory.ts";

/** The answer of the Worker's `open`. */
export interface Facts {
  model: ModelFacts;
  adapter: Adapter;
  defaults?: GenerateOptions;
  loadTimes: LoadTimes;
  pipelines: number;
  soundRate?: number;
}

type WithSignal = { signal?: AbortSignal };

export class WorkerEngine implements Engine {
  readonly model: ModelFacts;
  readonly adapter: Adapter;
  readonly defaults: GenerateOptions;
  readonly loadTimes: LoadTimes;
  readonly pipelines: number;
  readonly soundRate: number;
  readonly store: Store<EngineState>;
  readonly #connection: Connection;
  readonly #attempt: () => (() => void) | undefined;
  readonly #listeners = new Map<EngineEvent, Set<(text: string) => void>>();

  /** `attempt` is called before each text or embedding, and what it returns once that has a token or has ended. */
  constructor(connection: Connection, facts: Facts, attempt: () => (() => void) | undefined = () => undefined) {
    this.model = facts.model;
    this.adapter = facts.adapter;
    this.defaults = facts.defaults ?? {};
    this.loadTimes = facts.loadTimes;
    this.pipelines = facts.pipelines;
    this.soundRate = facts.soundRate ?? 0;
    this.store = new Store<EngineState>({ status: "ready", runs: 0, tokens: 0, lost: false, tabs: connection.tabs });
    this.#connection = connection;
    this.#attempt = attempt;
    const { event, ...others } = connection.listener;
    connection.listener = {
      ...others,
      event: (name, text) => {
        event?.(name, text);
        this.#tell(name, text);
      },
      crashed: () => this.store.set({ status: "crashed", runs: 0 }),
      tabs: (tabs) => this.store.set({ tabs }),
    };
  }

  generate(prompt: string | number[], options: GenerateOptions = {}): ActiveRun {
    return this.#start(typeof prompt === "string" ? { prompt } : { ids: prompt }, options, (end) => end);
  }

  chat(messages: Message[], options: GenerateOptions = {}): ActiveRun<ChatAnswer> {
    return this.#start({ messages }, options, (end, parts) => ({ ...end, ...parts, message: answerMessage(end.text, parts.toolCalls) }));
  }

  async embed(texts: string | string[], options: EmbedOptions = {}): Promise<Float32Array[]> {
    const { signal, ...values } = options;
    const all = typeof texts === "string" ? [texts] : texts;
    const survived = this.#attempt();
    const reply = await this.#verb<{ vectors: number[][] }>("embed", { ...values, texts: all }, signal).finally(survived);
    return reply.vectors.map((vector) => Float32Array.from(vector));
  }

  async rerank(query: string, documents: string[], options: RerankOptions = {}): Promise<Ranked[]> {
    const { signal, limit = documents.length, ...values } = options;
    const survived = this.#attempt();
    const { scores } = await this.#verb<{ scores: number[] }>("rerank", { ...values, query, documents }, signal).finally(survived);
    const ranked = scores.map((score, index) => ({ index, score }));
    return ranked.sort((a, b) => b.score - a.score).slice(0, limit);
  }

  memory(name = "memory"): DocumentMemory {
    const ask: Ask = async (call, signal, doing) => {
      const survived = this.#attempt();
      return this.#ask(call, signal, doing).finally(survived);
    };
    return new WorkerMemory(name, ask, this);
  }

  quote(hits: Hit[], options: QuoteOptions = {}): Promise<Recalled> {
    return this.#verb("quote", { ...options, hits });
  }

  async transcribe(sound: Sound, options: TranscribeOptions = {}): Promise<Transcript> {
    const samples = await samplesOf(sound);
    const survived = this.#attempt();
    return transcribed(this.#connection, samples, options).finally(survived);
  }

  speak(text: string | AsyncIterable<string>, options: SpeakOptions = {}): Promise<Speech> {
    const survived = this.#attempt();
    // The seed is chosen here, so that a sound that has to be made again is the same one.
    return said(this.#connection, text, { seed: randomSeed(), ...options }).finally(survived);
  }

  async talkLoop(options: TalkLoopOptions): Promise<TalkLoop> {
    await this.#verb("talk_begin", options);
    return {
      listen: (samples, played) => listened(this.#connection, samples, played),
      heard: (text) => this.#verb("talk_heard", { text }),
      answer: (more) => this.#verb("talk_answer", more),
    };
  }

  async tokenize(text: string, options: { special?: boolean } = {}): Promise<Uint32Array> {
    return Uint32Array.from(await this.tokens(text, options), ({ id }) => id);
  }

  async tokens(text: string, { special }: { special?: boolean } = {}): Promise<{ id: number; text: string }[]> {
    const values = { text, ...(special !== undefined && { special }) };
    const { ids, pieces } = await this.#verb<{ ids: number[]; pieces?: string[] }>("tokenize", values);
    return ids.map((id, index) => ({ id, text: pieces?.[index] ?? "" }));
  }

  async detokenize(ids: Iterable<number>): Promise<string> {
    return (await this.#verb<{ text: string }>("detokenize", { ids: [...ids] })).text;
  }

  async render(messages: Message[], variables: object = {}): Promise<string> {
    return (await this.#verb<{ text: string }>("render", { messages, variables })).text;
  }

  readonly inspect = (async (view: View, options: InspectOptions = {}) => {
    const reply = await this.#verb<{ text?: string; json?: Views[View] }>("inspect", { ...options, view });
    return options.form === "json" ? reply.json : reply.text;
  }) as Inspect;

  kernels(): Promise<KernelCatalogue> {
    return this.#verb("kernels", {});
  }

  kernel({ phase, step }: KernelPlace): Promise<KernelText> {
    return this.#verb("kernel", { phase, step });
  }

  bench({ signal, onProgress, ...values }: BenchOptions = {}): Promise<BenchReport> {
    return this.#during(this.#verb("bench", values, signal, onProgress));
  }

  profile({ signal, ...values }: object & WithSignal = {}): Promise<StepProfile> {
    return this.#during(this.#verb("profile", values, signal));
  }

  selfTest({ signal, onProgress }: LongOptions = {}): Promise<SelfTestReport> {
    return this.#during(this.#verb("self_test", {}, signal, onProgress));
  }

  exchange(
    request: { method: string; path: string; body: string },
    { signal }: WithSignal = {},
  ): Promise<Exchange> {
    this.#runs(+1);
    return openExchange(this.#connection, request, signal, () => this.#runs(-1));
  }

  on(event: EngineEvent, listener: (text: string) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.store.getSnapshot().status === "closed") return;
    this.store.set({ status: "closed", runs: 0 });
    // The Worker's end gives everything back: memory, buffers and files.
    this.#connection.end(new TokamakError("cancelled", "The engine is closed."));
  }

  #start<End extends Generation>(given: object, options: GenerateOptions, ending: (end: Generation, parts: ReplayedText["parts"]) => End): ActiveRun<End> {
    const { signal, templateVariables: variables, ...rest } = options;
    // Chosen here, so that a text that has to be computed again is the same one.
    const values = { seed: randomSeed(), ...rest, ...given, ...(variables && { variables }) };
    const whole = new ReplayedText();
    const survived = this.#attempt();
    const run = new ActiveRun((piece) => {
      const { result, cancel } = this.#connection.send(
        { kind: "generate", values },
        (part) => {
          if (part.kind !== "piece") return;
          survived?.();
          const fresh = whole.add(part.piece);
          if (whole.differs) cancel();
          if (!fresh) return;
          this.#count(fresh.ids.length);
          piece(fresh);
        },
        signal,
        () => {
          whole.repeat();
          return true;
        },
      );
      return { result: result.then((end) => ending(whole.end(end as Ending), whole.parts)), cancel };
    });
    this.#runs(+1);
    const ended = (more: Partial<EngineState> = {}) => {
      survived?.();
      this.#runs(-1, more);
    };
    run.result.then((lastResult) => ended({ lastResult }), () => ended());
    return run;
  }

  #verb<Reply>(verb: string, values: object, signal?: AbortSignal, doing?: (doing: Doing) => void): Promise<Reply> {
    return this.#ask({ kind: "verb", verb, values }, signal, doing) as Promise<Reply>;
  }

  #ask(call: Call, signal?: AbortSignal, doing?: (doing: Doing) => void): Promise<unknown> {
    return this.#connection.send(call, (part) => part.kind === "doing" && doing?.(part.doing), signal).result;
  }

  /** The engine is busy until the reply is there. */
  #during<Reply>(reply: Promise<Reply>): Promise<Reply> {
    this.#runs(+1);
    return reply.finally(() => this.#runs(-1));
  }

  #runs(change: number, more: Partial<EngineState> = {}): void {
    const { status, runs } = this.store.getSnapshot();
    if (status === "closed" || status === "crashed") return;
    const now = runs + change;
    this.store.set({ ...more, runs: now, ...(status !== "reopening" && { status: now > 0 ? "busy" : "ready" }) });
  }

  #count(tokens: number): void {
    this.store.set({ tokens: this.store.getSnapshot().tokens + tokens });
  }

  #tell(name: EngineEvent, text: string): void {
    this.store.set(this.#change(name, text));
    for (const listener of this.#listeners.get(name) ?? []) listener(text);
  }

  #change(name: EngineEvent, text: string): Partial<EngineState> {
    switch (name) {
      case "notice":
        return { lastNotice: text };
      case "lost":
      case "restored":
        return { lost: name === "lost" };
      case "stopped":
        return { status: "reopening", lost: false };
      case "reopened":
        return { status: this.store.getSnapshot().runs > 0 ? "busy" : "ready" };
    }
  }
}
