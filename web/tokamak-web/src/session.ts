// The Worker's side of the protocol: opens a model, calls the module, sends what comes of it.
import type { Check, Doing, Progress } from "./api.ts";
import { TokamakError, errorData } from "./errors.ts";
import { withWrittenImages } from "./images.ts";
import { Memories } from "./memories.ts";
import type { ResolvedModel, StoredModel } from "./models/types.ts";
import { modelValues, needsWhole, openValues } from "./model_values.ts";
import { OverallProgress } from "./progress.ts";
import type { Call, GenerateCall, OpenAiCall, OpenCall, PostedOptions, ToWorker, VerbCall } from "./protocol.ts";
import { type Asker, Pump, ended } from "./pump.ts";
import type { SessionHost, SessionModule, Started } from "./session_host.ts";
import { Sounds, type ToldSegment } from "./sounds.ts";
import { type DeviceReply, type OpenReply, checkOf, refusal } from "./verdict.ts";

interface Opened {
  module: SessionModule;
  pump: Pump;
  options: PostedOptions;
}

interface ModelHeaders extends Started {
  found: ResolvedModel;
  values: object;
}

export class Session {
  readonly #host: SessionHost;
  readonly #calls = new Map<number, AbortController>();
  readonly #questions = new Map<number, (allowed: boolean) => void>();
  #opened: Opened | null = null;
  #question = 0;
  /** The receiver of the module's reports of progress. */
  #progress: ((progress: Omit<Progress, "overall">) => void) | null = null;
  readonly #sounds = new Sounds();
  readonly #memories: Memories;
  /** Who has asked for what takes long, and hears how far it is. */
  readonly #waiting = new Map<Doing["phase"], Asker>();

  constructor(host: SessionHost) {
    this.#host = host;
    this.#memories = new Memories(host.stores);
  }

  receive(message: ToWorker): void {
    switch (message.kind) {
      case "call":
        void this.#answer(message.id, message.call);
        break;
      case "cancel":
        this.#calls.get(message.id)?.abort();
        break;
      case "text":
        this.#sounds.write(message.id, message.text, message.isLast);
        break;
      case "evict":
        this.#questions.get(message.question)?.(message.allowed);
        this.#questions.delete(message.question);
    }
  }

  /** Runs a call to its end, whichever it is: nothing is thrown. */
  async #answer(id: number, call: Call): Promise<void> {
    const { post } = this.#host;
    const abort = new AbortController();
    this.#calls.set(id, abort);
    const asker: Asker = {
      part: (part) => post({ kind: "part", id, part }),
      result: (result) => post({ kind: "result", id, result }),
      error: (error) => post({ kind: "error", id, error }),
    };
    try {
      asker.result(await this.#run(id, call, asker, abort.signal));
    } catch (error) {
      asker.error(errorData(error));
    } finally {
      this.#calls.delete(id);
    }
  }

  #run(id: number, call: Call, asker: Asker, signal: AbortSignal): Promise<unknown> {
    switch (call.kind) {
      case "open":
        return this.#open(call, asker, signal);
      case "check":
        return this.#check(call, asker, signal);
      case "look":
        return this.#look(call, asker, signal);
      case "verb":
        return this.#verb(call, asker, signal);
      case "generate":
        return this.#generate(call, asker, signal);
      case "transcribe":
        return this.#sounds.transcribe(this.#model.module, call, asker, signal);
      case "speak":
        return this.#sounds.speak(id, this.#model.module, call, asker, signal);
      case "listen":
        return this.#sounds.listen(this.#model.module, call, asker);
      case "memory":
        return this.#telling("memory", asker, ({ module, options }) => this.#memories.run(module, options.memory, call, signal));
      case "openai":
        return this.#exchange(call, asker, signal);
    }
  }

  get #model(): Opened {
    if (!this.#opened) throw new TokamakError("usage", "No model is open.");
    return this.#opened;
  }

  async #open(call: OpenCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    if (this.#opened) throw new TokamakError("usage", "The Worker has a model already.");
    this.#hearProgress(asker);
    const started = await this.#start(call.options.wasm, call.options);
    const found = await this.#find(call, started.module, signal);
    // A read that fails says the same, and is told instead.
    found.complete?.catch(() => {});
    try {
      const { module, waiting } = await this.#moduleFor(found, started, call.options);
      const values = modelValues(call, module, found);
      const { device, ...facts } = await module.call<OpenReply>("open", values, signal);
      const codec = await this.#openCodec(call, module, signal);
      // A part that was read before all bytes have the right hash may be wrong.
      await Promise.all([found.complete, codec?.complete]);
      this.#opened = { module, pump: new Pump(module), options: call.options };
      this.#progress?.({ phase: "ready", loaded: 1, total: 1, cached: false });
      // The files stay open: after a loss of the device the weights are read again.
      return { ...facts, adapter: { ...device, waiting }, ...(codec && { soundRate: this.#sounds.rate }) };
    } catch (error) {
      await found.close();
      throw error;
    } finally {
      this.#progress = null;
    }
  }

  /** Its files stay open as the model's do. */
  async #openCodec(call: OpenCall, module: SessionModule, signal: AbortSignal): Promise<ResolvedModel | undefined> {
    const { codec } = call.options;
    if (codec === undefined) return undefined;
    const found = await this.#find({ ...call, source: codec }, module, signal);
    await this.#sounds.openCodec(module, found, signal);
    return found;
  }

  #check(call: OpenCall, asker: Asker, signal: AbortSignal): Promise<Check> {
    return this.#withHeaders(call, asker, signal, async ({ module, waiting, found, values }) => {
      const outcome = await module.call<OpenReply>("check", values, signal).catch(refusal);
      // A refusal does not say what the device is.
      const device =
        outcome instanceof TokamakError
          ? await module.call<DeviceReply>("adapter", openValues(call.options), signal)
          : outcome.device;
      const total = found.files.reduce((sum, { size }) => sum + size, 0);
      const cached = found.cachedBytes ?? 0;
      const { quota, usage = 0 } = (await globalThis.navigator?.storage?.estimate?.()) ?? {};
      const room = quota === undefined ? undefined : quota - usage;
      const tokenizer = found.files.find(({ name }) => name === "tokenizer.json")?.size ?? 0;
      return checkOf(outcome, { ...device, waiting }, { total, cached, room, tokenizer });
    });
  }

  /** Checks like `check`, but the module stays, so that the model can be looked at. */
  #look(call: OpenCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    return this.#withHeaders(call, asker, signal, async ({ module, waiting, values }) => {
      const { device, model } = await module.call<OpenReply>("check", values, signal);
      this.#opened = { module, pump: new Pump(module), options: call.options };
      return { model, adapter: { ...device, waiting } };
    });
  }

  /** Starts a module that can read the headers of the model's files while `use` runs. */
  async #withHeaders<T>(
    call: OpenCall,
    asker: Asker,
    signal: AbortSignal,
    use: (headers: ModelHeaders) => Promise<T>,
  ): Promise<T> {
    this.#hearProgress(asker);
    const started = await this.#start(call.options.wasm, call.options);
    const found = await this.#find(call, started.module, signal, true);
    try {
      const { module, waiting } = await this.#moduleFor(found, started, call.options);
      return await use({ module, waiting, found, values: modelValues(call, module, found) });
    } finally {
      await found.close();
    }
  }

  #hearProgress(asker: Asker): void {
    const overall = new OverallProgress();
    this.#progress = (reported) => {
      const progress = overall.add(reported);
      if (progress) asker.part({ kind: "progress", progress });
    };
  }

  /** The module that has started, or in its place the whole one, where the model's config.json asks for that. */
  async #moduleFor(found: ResolvedModel, started: Started, options: PostedOptions): Promise<Started> {
    return (await needsWhole(started.module, found, options)) ? this.#start(options.whole, options) : started;
  }

  #start(wasm: string, { wait, twins, alter }: PostedOptions): Promise<Started> {
    const told = (event: "notice" | "lost" | "restored") => (text: string) => this.#host.post({ kind: "event", event, text });
    return this.#host.start({
      wasm,
      twins,
      wait,
      alter,
      event: (kind, values) => this.#reported(kind, values),
      play: (id, samples) => this.#sounds.play(id, samples),
      device: {
        lost: told("lost"),
        restored: told("restored"),
        compiling: (loaded, total) => this.#progress?.({ phase: "compile", loaded, total, cached: false }),
      },
      tell: told("notice"),
    });
  }

  #reported(kind: string, values: unknown): void {
    if (kind === "notice") {
      this.#host.post({ kind: "event", event: "notice", ...(values as { text: string }) });
    } else if (kind === "segment") {
      this.#sounds.told(values as ToldSegment);
    } else if (kind === "piece") {
      this.#sounds.begun(values as { id: number; text: string });
    } else if (kind === "line") {
      this.#memories.line(values as string);
    } else if (kind === "progress" && this.#progress) {
      const { phase, done, total } = values as { phase: Progress["phase"]; done: number; total: number };
      this.#progress({ phase, loaded: done, total, cached: phase === "read" });
    } else if (kind === "progress") {
      const doing = values as Doing;
      this.#waiting.get(doing.phase)?.part({ kind: "doing", doing });
    }
  }

  #find(
    { source, options }: OpenCall,
    module: SessionModule,
    signal: AbortSignal,
    headersOnly = false,
  ): Promise<ResolvedModel> {
    const { token, endpoint, cache = "opfs" } = options;
    return this.#host.resolve(source, {
      module,
      signal,
      cache,
      headersOnly,
      ...(token !== undefined && { token }),
      ...(endpoint !== undefined && { endpoint }),
      onProgress: (progress) => this.#progress?.(progress),
      onNotice: (text) => this.#host.post({ kind: "event", event: "notice", text }),
      onEvict: (models) => this.#askToEvict(models),
    });
  }

  #askToEvict(models: StoredModel[]): Promise<boolean> {
    this.#question += 1;
    const question = this.#question;
    this.#host.post({ kind: "evict", question, models });
    return new Promise((resolve) => this.#questions.set(question, resolve));
  }

  async #verb({ verb, values }: VerbCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const { module } = this.#model;
    if (verb !== "self_test" && verb !== "bench") return module.call(verb, values, signal);
    return this.#telling(verb === "bench" ? "bench" : "self-test", asker, () => module.call(verb, values, signal));
  }

  /** Tells the asker of the progress of that phase while it runs. */
  async #telling<T>(phase: Doing["phase"], asker: Asker, run: (opened: Opened) => Promise<T>): Promise<T> {
    this.#waiting.set(phase, asker);
    try {
      return await run(this.#model);
    } finally {
      if (this.#waiting.get(phase) === asker) this.#waiting.delete(phase);
    }
  }

  async #generate(call: GenerateCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const { module, pump } = this.#model;
    // Begun in any case: a text that is cancelled before its turn has a result like any other.
    const { request } = await module.call<{ request: number }>("generate", await withWrittenImages(call.values));
    return ended(asker, signal, () => module.call("cancel", { request }), (own) =>
      pump.add("request", request, own),
    );
  }

  async #exchange(call: OpenAiCall, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const { module, pump } = this.#model;
    const { kind: _, ...values } = call;
    const { exchange } = await module.call<{ exchange: number }>("openai", values);
    return ended(asker, signal, () => module.call("openai_cancel", { exchange }), (own) =>
      pump.add("exchange", exchange, own),
    );
  }
}
