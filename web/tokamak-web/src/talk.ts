// A conversation by voice: engines that hear, answer and speak, and a loop that says whose turn it is.
import type { Engine, Loudspeaker, Message, Run, Talk, TalkEvent, TalkLoop, TalkOptions, TalkPhase, TalkState, Turn } from "./api.ts";
import { TokamakError } from "./errors.ts";
import { Queue } from "./queue.ts";
import { RATE, Resampler } from "./resampler.ts";

/** Between two looks at what has been played, where no microphone lets time pass. */
const TICK_MS = 40;
const MAX_TOKENS = 512;

/** When a text had how many characters. */
class Written {
  text = "";
  readonly #times: { length: number; at: number }[] = [];

  add(more: string): void {
    this.text += more;
    this.#times.push({ length: this.text.trimStart().length, at: performance.now() });
  }

  /** Seconds since that beginning of it was there. */
  since(beginning: string): number {
    const there = this.#times.find(({ length }) => length >= beginning.length);
    return there ? (performance.now() - there.at) / 1000 : 0;
  }
}

class ActiveTalk implements Talk {
  readonly messages: Message[];
  readonly #options: TalkOptions;
  readonly #loop: TalkLoop;
  readonly #loudspeaker: Loudspeaker;
  readonly #events = new Queue<TalkEvent>();
  readonly #tick: ReturnType<typeof setInterval>;
  #resampler = new Resampler(RATE);
  /** Samples of the microphone's that the loop has not got. */
  #unheard: Float32Array[] = [];
  /** The loop's calls wait for each other. */
  #last: Promise<void> = Promise.resolve();
  #isPassing = false;
  #task: TalkState["task"] = "listen";
  /** Ends what is done for the task. */
  #work = new AbortController();
  #phase: TalkPhase | null = null;
  #isOver = false;

  constructor(options: TalkOptions, loop: TalkLoop) {
    const { system, messages = system ? [{ role: "system", content: system }] : [] } = options;
    this.messages = [...messages];
    this.#options = options;
    this.#loop = loop;
    this.#loudspeaker = options.loudspeaker;
    this.#tick = setInterval(() => this.#task === "answer" && this.#passTime(), TICK_MS);
    this.#show("listening");
  }

  listen(samples: Float32Array, rate = RATE): void {
    if (rate !== this.#resampler.rate) this.#resampler = new Resampler(rate);
    this.#unheard.push(this.#resampler.add(samples));
    this.#passTime();
  }

  ask(question: string): void {
    this.#next(async () => {
      if (this.#task === "answer") await this.#stopAnswer();
      this.#follow(await this.#loop.heard(question));
    });
  }

  stop(): void {
    this.#next(async () => {
      if (this.#task === "answer") await this.#stopAnswer();
    });
  }

  close(): void {
    this.#end(null);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TalkEvent, void, undefined> {
    try {
      yield* this.#events;
    } finally {
      this.close();
    }
  }

  #end(failed: { error: unknown } | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#tick);
    this.#work.abort();
    this.#loudspeaker.stop();
    this.#events.end(failed);
  }

  /** Once the calls of the loop before it have ended. */
  #next(step: () => Promise<void>): void {
    const run = () => (this.#isOver ? undefined : step());
    this.#last = this.#last.then(run).catch((error: unknown) => this.#end({ error }));
  }

  #passTime(): void {
    if (this.#isPassing) return;
    this.#isPassing = true;
    this.#next(() => {
      this.#isPassing = false;
      return this.#hear();
    });
  }

  async #hear(): Promise<void> {
    const samples = joined(this.#unheard.splice(0));
    const state = await this.#loop.listen(samples, this.#loudspeaker.played());
    if (state.taken < samples.length) {
      this.#unheard.unshift(samples.subarray(state.taken));
      this.#passTime();
    }
    this.#follow(state, state.utterance);
  }

  async #stopAnswer(): Promise<void> {
    this.#follow(await this.#loop.answer({ stop: this.#loudspeaker.played() }));
  }

  /** Does what the loop says is to be done. */
  #follow({ task, idle, question = "", turn }: TalkState, utterance: Float32Array = new Float32Array()): void {
    const before = this.#task;
    if (task !== before) {
      this.#task = task;
      this.#work.abort();
      this.#work = new AbortController();
      if (before === "answer") this.#endAnswer(turn);
      if (task === "transcribe") this.#run((work) => this.#transcribe(utterance, work));
      if (task === "answer") this.#run((work) => this.#answer(question, work));
    }
    if (task === "listen") this.#show(idle ? "listening" : "hearing");
  }

  /** A task that the next one cuts off fails, which is no error. */
  #run(work: (own: AbortController) => Promise<void>): void {
    const own = this.#work;
    work(own).catch((error: unknown) => own.signal.aborted || this.#end({ error }));
  }

  async #transcribe(utterance: Float32Array, { signal }: AbortController): Promise<void> {
    this.#show("transcribing");
    const { listener, hearing } = this.#options;
    const { text } = await listener.transcribe(utterance, { ...hearing, signal });
    this.#next(async () => {
      // The sound of the meantime has come before this. They may have gone on: then it was not all.
      if (!signal.aborted) this.#follow(await this.#loop.heard(text));
    });
  }

  async #answer(question: string, { signal }: AbortController): Promise<void> {
    const { answerer, speaker, speaking } = this.#options;
    this.#loudspeaker.stop(); // it counts from here on
    this.#tell({ kind: "question", text: question });
    this.#show("thinking");
    // A question that has had no answer makes way for the next one.
    if (this.messages.at(-1)?.role === "user") this.messages.pop();
    this.messages.push({ role: "user", content: question });
    const answering = { maxTokens: MAX_TOKENS, ...this.#options.answering, signal };
    await this.#fit(answerer, answering.maxTokens);
    signal.throwIfAborted();
    const run = answerer.chat(this.messages, answering);
    const written = new Written();
    let piece: string | undefined;
    let pieces = 0;
    const onSamples = (samples: Float32Array, rate: number) => {
      if (signal.aborted) return;
      this.#loudspeaker.play(samples, rate);
      const more = { samples: samples.length, ...(piece !== undefined && { piece }) };
      piece = undefined;
      this.#report(signal, more);
    };
    const onPiece = (text: string) => {
      piece = text;
      pieces += 1;
      if (pieces > 1 || signal.aborted) return;
      this.#tell({ kind: "sound", seconds: written.since(text) });
      this.#show("speaking");
    };
    try {
      await speaker.speak(this.#write(run, written, signal), { ...speaking, signal, onPiece, onSamples });
    } catch (error) {
      // An answer may have nothing that can be said.
      const isSilent = pieces === 0 && (error as { code?: string }).code === "invalid-input";
      if (!isSilent) throw error;
    }
    await run.result;
    this.#report(signal, { text: written.text, end: true });
  }

  async *#write(run: Run, written: Written, signal: AbortSignal): AsyncGenerator<string> {
    for await (const { text } of run) {
      if (signal.aborted) return;
      if (text === "") continue; // reasoning is not said
      written.add(text);
      this.#tell({ kind: "text", text });
      yield text;
    }
  }

  /** Tells the loop of the answer, as long as there is one. */
  #report(signal: AbortSignal, more: Parameters<TalkLoop["answer"]>[0]): void {
    this.#next(async () => {
      if (!signal.aborted) this.#follow(await this.#loop.answer(more));
    });
  }

  #endAnswer(turn: Turn | undefined): void {
    this.#loudspeaker.stop();
    if (turn && turn.answer !== "") this.messages.push({ role: "assistant", content: turn.answer });
    this.#tell({ kind: "end", ...(turn && { turn }) });
  }

  /** Forgets the oldest questions with their answers where the context has no room for an answer. */
  async #fit(answerer: Engine, maxTokens: number): Promise<void> {
    const { context } = answerer.model;
    const room = Math.min(maxTokens, Math.floor(context / 4));
    for (;;) {
      const prompt = await answerer.render(this.messages);
      const { length } = await answerer.tokenize(prompt, { special: true });
      const first = this.messages.findIndex(({ role }) => role === "user");
      const second = this.messages.findIndex(({ role }, at) => at > first && role === "user");
      if (length + room <= context || second < 0) return;
      this.messages.splice(first, second - first);
    }
  }

  #show(phase: TalkPhase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#tell({ kind: "phase", phase });
  }

  #tell(event: TalkEvent): void {
    if (!this.#isOver) this.#events.add(event);
  }
}

function joined(parts: Float32Array[]): Float32Array {
  const out = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * Begins a conversation by voice between whoever speaks into the microphone and three models, which may be in three engines. Who
 * speaks while an answer is said interrupts it: nothing more of it is written or said, and what was heard of it stays in
 * `messages`. Fails with `usage` or `unsupported` where a model is not for that.
 */
export async function talk(options: TalkOptions): Promise<Talk> {
  const { listener, answerer, speaker, pause, mayInterrupt } = options;
  if (!listener.model.hears) throw new TokamakError("usage", `${listener.model.name} does not hear.`);
  if (!answerer.model.hasTemplate) throw new TokamakError("usage", `${answerer.model.name} has no chat template to answer by.`);
  if (!speaker.soundRate) throw new TokamakError("usage", `${speaker.model.name} was opened without a codec, so that it cannot speak.`);
  const loop = await listener.talkLoop({
    rate: speaker.soundRate,
    ...(pause !== undefined && { pause }),
    ...(mayInterrupt !== undefined && { interruptions: mayInterrupt }),
  });
  return new ActiveTalk(options, loop);
}
