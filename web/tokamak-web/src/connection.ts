// The page's side of the protocol: calls with a number each, and what answers them.
import { TokamakError, errorFrom } from "./errors.ts";
import type { StoredModel } from "./models/types.ts";
import type { Call, Part, ToPage, ToWorker } from "./protocol.ts";

/** The part of a Worker that is used, so that a test can stand in for it. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  addEventListener(type: "message", listener: (event: { data: ToPage }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string }) => void): void;
  addEventListener(type: "messageerror", listener: () => void): void;
}

export interface Listener {
  event(name: "notice" | "lost" | "restored", text: string): void;
  /** Without it, no. */
  evict(models: StoredModel[]): boolean | Promise<boolean>;
  /** The Worker or its module has stopped: every call fails from now on. */
  crashed(error: TokamakError): void;
}

interface Waiting {
  part(part: Part): void;
  resolve(result: unknown): void;
  reject(error: TokamakError): void;
}

export interface Sent {
  result: Promise<unknown>;
  cancel(): void;
}

export class Connection {
  listener: Partial<Listener> = {};
  readonly #worker: WorkerLike;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #end: TokamakError | null = null;

  constructor(worker: WorkerLike) {
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => this.#receive(data));
    worker.addEventListener("error", ({ message }) =>
      this.#crash(new TokamakError("crashed", `The Worker has stopped: ${message || "it does not start"}.`)),
    );
    worker.addEventListener("messageerror", () =>
      this.#crash(new TokamakError("crashed", "A message of the Worker's cannot be read.")),
    );
  }

  /** Posts a call. With a signal that is aborted, now or later, it is cancelled. */
  send(call: Call, part: (part: Part) => void = () => {}, signal?: AbortSignal): Sent {
    this.#last += 1;
    const id = this.#last;
    const cancel = () => {
      if (this.#waiting.has(id)) this.#worker.postMessage({ kind: "cancel", id });
    };
    const result = new Promise<unknown>((resolve, reject) => {
      if (this.#end) {
        reject(this.#end);
        return;
      }
      this.#waiting.set(id, { part, resolve, reject });
      this.#worker.postMessage({ kind: "call", id, call });
    });
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel);
    const leave = () => signal?.removeEventListener("abort", cancel);
    result.then(leave, leave);
    return { result, cancel };
  }

  /** Ends the Worker; calls that are under way fail with the error, and so do later ones. */
  end(error: TokamakError): void {
    if (this.#end) return;
    this.#end = error;
    this.#worker.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  #crash(error: TokamakError): void {
    if (this.#end) return;
    this.end(error);
    this.listener.crashed?.(error);
  }

  #receive(message: ToPage): void {
    switch (message.kind) {
      case "part":
        this.#waiting.get(message.id)?.part(message.part);
        break;
      case "result":
        this.#take(message.id)?.resolve(message.result);
        break;
      case "error": {
        const error = errorFrom(message.error);
        this.#take(message.id)?.reject(error);
        if (error.code === "crashed") this.#crash(error);
        break;
      }
      case "event":
        this.listener.event?.(message.event, message.text);
        break;
      case "evict":
        void this.#evict(message.question, message.models);
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  async #evict(question: number, models: StoredModel[]): Promise<void> {
    let allowed = false;
    try {
      allowed = (await this.listener.evict?.(models)) ?? false;
    } finally {
      this.#worker.postMessage({ kind: "evict", question, allowed });
    }
  }
}
