// The stand-in for a Worker in a tab that shares one: it leads to the hub, which may be in another tab, and later in yet another one.
import type { WorkerLike } from "./connection.ts";
import type { TokamakError } from "./errors.ts";
import type { ToPage, ToWorker } from "./protocol.ts";

export class Line implements WorkerLike {
  readonly #ended: (line: Line) => void;
  readonly #listeners = new Map<string, (event: never) => void>();
  readonly #waiting = new Set<number>();
  #unsent: ToWorker[] = [];
  #send: ((message: ToWorker) => void) | null = null;
  /** The call that opens the model, until it has its answer, and what was posted about it: that it is cancelled. */
  #opening: { id: number; posted: ToWorker[] } | null = null;

  constructor(ended: (line: Line) => void) {
    this.#ended = ended;
  }

  /** Whether a call has no answer yet. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  bind(send: (message: ToWorker) => void): void {
    this.#send = send;
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const message of unsent) send(message);
  }

  /** Goes back to before the opening, where that is running, so that it begins anew with another hub. */
  rewind(): boolean {
    if (!this.#opening) return false;
    this.#send = null;
    this.#unsent = [...this.#opening.posted];
    return true;
  }

  receive(message: ToPage): void {
    if (message.kind === "result" || message.kind === "error") {
      this.#waiting.delete(message.id);
      if (this.#opening?.id === message.id) this.#opening = null;
    }
    this.#emit("message", { data: message });
  }

  stopped(error: TokamakError): void {
    this.#emit("error", { error });
  }

  postMessage(message: ToWorker): void {
    if (message.kind === "call") {
      this.#waiting.add(message.id);
      if (message.call.kind === "open") this.#opening = { id: message.id, posted: [message] };
    }
    if (message.kind === "cancel" && message.id === this.#opening?.id) this.#opening.posted.push(message);
    if (this.#send) this.#send(message);
    else this.#unsent.push(message);
  }

  terminate(): void {
    this.#ended(this);
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }

  #emit(type: string, event: object): void {
    this.#listeners.get(type)?.(event as never);
  }
}
