// The page's side of the protocol: calls with a number each, and what answers them. A Worker that has
// stopped is replaced, and the calls that were in flight are made again.
import type { EngineEvent } from "./api.ts";
import { TokamakError, errorFrom, isMoved } from "./errors.ts";
import type { StoredModel } from "./models/types.ts";
import type { Call, Part, ToPage, ToWorker } from "./protocol.ts";

/** The part of a Worker that is used, so that a test can stand in for it. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  addEventListener(type: "message", listener: (event: { data: ToPage }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string; error?: unknown }) => void): void;
  addEventListener(type: "messageerror", listener: () => void): void;
}

export interface Listener {
  event(name: EngineEvent, text: string): void;
  /** Without it, no. */
  evict(models: StoredModel[]): boolean | Promise<boolean>;
  /** The Worker or its module has stopped for good: every call fails from now on. */
  crashed(error: TokamakError): void;
  /** The number of tabs that have the Worker together. */
  tabs(tabs: number): void;
}

interface Waiting {
  call: Call;
  part(part: Part): void;
  again(): boolean;
  resolve(result: unknown): void;
  reject(error: TokamakError): void;
  /** It was in flight when a Worker stopped: not a third time. */
  isRepeated: boolean;
  isCancelled: boolean;
}

export interface Sent {
  result: Promise<unknown>;
  cancel(): void;
  /** Adds the next part of an open text that is spoken. */
  write(text: string, isLast: boolean): void;
}

/** A call and what hears of its parts. */
export interface Opening {
  call: Call;
  part(part: Part): void;
}

/** Opens the model in a new Worker after this error; null: it has stopped for good. */
export type Recover = (error: TokamakError) => Opening | null;

/** The error of a Worker of that script which has stopped; without a message it has not started. */
export function stopOf(script: string, message?: string): TokamakError {
  const notStarted = `The Worker does not start: ${script} cannot be loaded. Where a bundler copies no files give \`worker\` and \`wasm\` as URLs (README, "What it needs").`;
  return new TokamakError("crashed", message ? `The Worker has stopped: ${message}.` : notStarted);
}

export class Connection {
  listener: Partial<Listener> = {};
  /** Tabs that have the Worker together. */
  tabs = 1;
  /** Without it the first stop is the end. */
  recover: Recover = () => null;
  readonly #start: () => WorkerLike;
  readonly #script: string;
  #worker: WorkerLike;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #isReopening = false;
  #end: TokamakError | null = null;

  /** `start` is called once, and again where a Worker is replaced; `script` names for messages what it runs. */
  constructor(start: () => WorkerLike, script = "worker.js") {
    this.#start = start;
    this.#script = script;
    this.#worker = this.#attach(start());
  }

  /**
   * Posts a call. With a signal that is aborted, now or later, it is cancelled. `again` is asked whether a
   * call that was in flight when the Worker stopped may be made anew; its parts then come a second time.
   */
  send(
    call: Call,
    part: (part: Part) => void = () => {},
    signal?: AbortSignal,
    again: () => boolean = () => true,
  ): Sent {
    this.#last += 1;
    const id = this.#last;
    const cancel = () => {
      const waiting = this.#waiting.get(id);
      if (!waiting) return;
      waiting.isCancelled = true;
      if (!this.#isReopening) this.#worker.postMessage({ kind: "cancel", id });
    };
    const result = new Promise<unknown>((resolve, reject) => {
      if (this.#end) {
        reject(this.#end);
        return;
      }
      const waiting = { call, part, again, resolve, reject, isRepeated: false, isCancelled: false };
      this.#waiting.set(id, waiting);
      if (!this.#isReopening) this.#post(id, waiting);
    });
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel);
    const leave = () => signal?.removeEventListener("abort", cancel);
    result.then(leave, leave);
    return { result, cancel, write: (text, isLast) => this.#write(id, text, isLast) };
  }

  /** Ends the Worker; calls that are in flight fail with the error, and so do later ones. */
  end(error: TokamakError): void {
    if (this.#end) return;
    this.#end = error;
    this.#worker.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  /** A call keeps its whole text, for a new Worker. */
  #write(id: number, text: string, isLast: boolean): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.call.kind !== "speak") return;
    const { values } = waiting.call;
    waiting.call = { ...waiting.call, values: { ...values, text: values.text + text }, isOpen: !isLast };
    if (!this.#isReopening) this.#worker.postMessage({ kind: "text", id, text, isLast });
  }

  #attach(worker: WorkerLike): WorkerLike {
    // A Worker that was replaced may have left messages.
    const isThis = () => worker === this.#worker;
    const crash = (error: TokamakError) => isThis() && this.#stopped(error);
    worker.addEventListener("message", ({ data }) => isThis() && this.#receive(data));
    worker.addEventListener("error", ({ message, error }) => crash(error instanceof TokamakError ? error : stopOf(this.#script, message)));
    worker.addEventListener("messageerror", () => crash(new TokamakError("crashed", "A message of the Worker's cannot be read.")));
    return worker;
  }

  #post(id: number, { call, isCancelled }: Waiting): void {
    this.#worker.postMessage({ kind: "call", id, call });
    if (isCancelled) this.#worker.postMessage({ kind: "cancel", id });
  }

  #stopped(error: TokamakError): void {
    if (this.#end) return;
    const opening = this.#isReopening ? null : this.recover(error);
    if (opening) void this.#restart(opening, error);
    else this.#giveUp(error);
  }

  #giveUp(error: TokamakError): void {
    this.end(error);
    this.listener.crashed?.(error);
  }

  /** Opens the model in a new Worker, which then gets the calls that were in flight and those made meanwhile. */
  async #restart(opening: Opening, cause: TokamakError): Promise<void> {
    this.#worker.terminate();
    for (const [id, one] of this.#waiting) {
      if (!one.isRepeated && one.again()) one.isRepeated = !isMoved(cause);
      else this.#take(id)?.reject(cause);
    }
    this.listener.event?.("stopped", cause.message);
    try {
      this.#worker = this.#attach(this.#start());
      const { result } = this.send(opening.call, opening.part);
      this.#isReopening = true;
      await result;
    } catch (error) {
      const { message } = error as Error;
      if (!this.#end) this.#giveUp(new TokamakError("crashed", `${cause.message} It could not be opened again: ${message}`));
      return;
    } finally {
      this.#isReopening = false;
    }
    for (const [id, one] of this.#waiting) this.#post(id, one);
    this.listener.event?.("reopened", cause.message);
  }

  #receive(message: ToPage): void {
    switch (message.kind) {
      case "part":
        this.#waiting.get(message.id)?.part(message.part);
        break;
      case "result":
        this.#take(message.id)?.resolve(message.result);
        break;
      case "error":
        this.#failed(message.id, errorFrom(message.error));
        break;
      case "event":
        this.listener.event?.(message.event, message.text);
        break;
      case "tabs":
        this.tabs = message.tabs;
        this.listener.tabs?.(message.tabs);
        break;
      case "evict":
        void this.#evict(message.question, message.models);
    }
  }

  #failed(id: number, error: TokamakError): void {
    const waiting = this.#waiting.get(id);
    if (error.code === "crashed") {
      this.#stopped(error);
      return;
    }
    // The module has tried several times, and would try again: a new one may be luckier, with smaller submissions.
    const isHopeless = error.code !== "device-lost" || !waiting || waiting.isRepeated || this.#isReopening;
    const opening = isHopeless ? null : this.recover(error);
    if (opening) void this.#restart(opening, error);
    else this.#take(id)?.reject(error);
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  async #evict(question: number, models: StoredModel[]): Promise<void> {
    const worker = this.#worker;
    let allowed = false;
    try {
      allowed = (await this.listener.evict?.(models)) ?? false;
    } finally {
      worker.postMessage({ kind: "evict", question, allowed });
    }
  }
}
