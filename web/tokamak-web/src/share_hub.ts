// The owner's side of an engine that several tabs share: one Worker, and the calls of every tab with a number of their own. The model
// is opened once, whoever asks for it first.
import { type WorkerLike, stopOf } from "./connection.ts";
import { type ErrorData, TokamakError, errorFrom } from "./errors.ts";
import type { Part, ToPage, ToWorker } from "./protocol.ts";

/** A tab as the hub knows it. */
export interface Member {
  post(message: ToPage): void;
  /** Called where the Worker has stopped, once. */
  stopped(error: TokamakError): void;
}

interface Route {
  tab: string;
  /** The number that the tab gave the call. */
  id: number;
}

/** The state of the one `open` call. */
interface Opening {
  /** The Worker's number of the call, while it is in flight. */
  id: number;
  askers: Route[];
  last: Part | null;
}

const BY_VOICE: ErrorData = {
  code: "usage",
  message: "A conversation by voice has state in the Worker, which other tabs use as well: open its model without `share`.",
};
const LEFT: ErrorData = { code: "cancelled", message: "The opening was cancelled." };

export class Hub {
  readonly #worker: WorkerLike;
  readonly #members = new Map<string, Member>();
  readonly #routes = new Map<number, Route>();
  #opening: Opening | null = null;
  /** The tab that each question is put to, until it answers. */
  readonly #questions = new Map<number, string>();
  #facts: { result: unknown } | null = null;
  #last = 0;
  #isOver = false;
  readonly #onStopped: (error: TokamakError) => void;

  /** `script` names what the Worker runs; `onStopped` is called where it has stopped, before the members are. */
  constructor(worker: WorkerLike, script: string, onStopped: (error: TokamakError) => void) {
    this.#worker = worker;
    this.#onStopped = onStopped;
    worker.addEventListener("message", ({ data }) => this.#isOver || this.#received(data));
    worker.addEventListener("error", ({ message }) => this.#stopped(stopOf(script, message)));
    worker.addEventListener("messageerror", () => this.#stopped(new TokamakError("crashed", "A message of the Worker's cannot be read.")));
  }

  get tabs(): number {
    return this.#members.size;
  }

  has(tab: string): boolean {
    return this.#members.has(tab);
  }

  join(tab: string, member: Member): void {
    this.#members.set(tab, member);
    this.#count();
  }

  /** Ends the calls of a tab that has gone. */
  leave(tab: string): void {
    if (this.#isOver) return;
    this.#refuse(tab);
    if (!this.#members.delete(tab)) return;
    this.#dropAsker(({ tab: own }) => own === tab);
    for (const [id, route] of this.#routes) {
      if (route.tab === tab && id !== this.#opening?.id) this.#worker.postMessage({ kind: "cancel", id });
    }
    this.#count();
  }

  receive(tab: string, message: ToWorker): void {
    if (this.#isOver) return;
    if (message.kind === "call") this.#call(tab, message);
    else if (message.kind !== "evict") this.#passOn(tab, message);
    else if (this.#questions.delete(message.question)) this.#worker.postMessage(message);
  }

  /** Ends the Worker. */
  end(): void {
    this.#isOver = true;
    this.#worker.terminate();
  }

  /** Ends the Worker, which has failed in a way that leaves nothing to go on with. */
  #stopped(error: TokamakError): void {
    if (this.#isOver) return;
    this.end();
    this.#onStopped(error);
    for (const member of [...this.#members.values()]) member.stopped(error);
  }

  #call(tab: string, message: Extract<ToWorker, { kind: "call" }>): void {
    const { id, call } = message;
    const answer = (reply: ToPage) => this.#members.get(tab)?.post(reply);
    if (call.kind === "listen" || (call.kind === "verb" && call.verb.startsWith("talk_"))) return answer({ kind: "error", id, error: BY_VOICE });
    if (call.kind !== "open") return this.#send(tab, message);
    if (this.#facts) return answer({ kind: "result", id, ...this.#facts });
    if (!this.#opening) {
      this.#send(tab, message);
      this.#opening = { id: this.#last, askers: [{ tab, id }], last: null };
      return;
    }
    this.#opening.askers.push({ tab, id });
    if (this.#opening.last) answer({ kind: "part", id, part: this.#opening.last });
  }

  #send(tab: string, { id, call }: Extract<ToWorker, { kind: "call" }>): void {
    this.#last += 1;
    this.#routes.set(this.#last, { tab, id });
    this.#worker.postMessage({ kind: "call", id: this.#last, call });
  }

  /** A message about a call that is in flight. */
  #passOn(tab: string, message: Extract<ToWorker, { kind: "cancel" | "text" }>): void {
    const isOf = (route: Route) => route.tab === tab && route.id === message.id;
    if (message.kind === "cancel" && this.#opening?.askers.some(isOf)) {
      this.#members.get(tab)?.post({ kind: "error", id: message.id, error: LEFT });
      this.#members.delete(tab);
      this.#refuse(tab);
      this.#dropAsker(isOf);
      this.#count();
      return;
    }
    for (const [id, route] of this.#routes) {
      if (isOf(route)) this.#worker.postMessage({ ...message, id });
    }
  }

  /** Answers for a tab that has gone what it was asked, on which the opening waits. */
  #refuse(tab: string): void {
    for (const [question, asked] of this.#questions) {
      if (asked === tab && this.#questions.delete(question)) this.#worker.postMessage({ kind: "evict", question, allowed: false });
    }
  }

  /** Leaves the opening to the others: without any the Worker ends with the hub. */
  #dropAsker(isOf: (route: Route) => boolean): void {
    if (this.#opening) this.#opening.askers = this.#opening.askers.filter((route) => !isOf(route));
  }

  #received(message: ToPage): void {
    if (message.kind === "event" || message.kind === "tabs") {
      for (const { post } of this.#members.values()) post(message);
      return;
    }
    if (message.kind === "evict") {
      // Who opens the model is asked what may make room for it.
      const [first] = this.#opening?.askers ?? [];
      const member = first && this.#members.get(first.tab);
      if (member) {
        this.#questions.set(message.question, first.tab);
        member.post(message);
      } else {
        this.#worker.postMessage({ kind: "evict", question: message.question, allowed: false });
      }
      return;
    }
    const route = this.#routes.get(message.id);
    if (message.kind !== "part") this.#routes.delete(message.id);
    if (message.kind === "error" && (message.error.code === "crashed" || (this.#facts && message.error.code === "device-lost"))) {
      this.#stopped(errorFrom(message.error));
    } else if (message.id === this.#opening?.id) {
      this.#opened(this.#opening, message);
    } else if (route) {
      this.#members.get(route.tab)?.post({ ...message, id: route.id });
    }
  }

  #opened(opening: Opening, message: Extract<ToPage, { kind: "part" | "result" | "error" }>): void {
    if (message.kind === "part") opening.last = message.part;
    else this.#opening = null;
    if (message.kind === "result") this.#facts = { result: message.result };
    for (const { tab, id } of opening.askers) this.#members.get(tab)?.post({ ...message, id });
  }

  #count(): void {
    for (const { post } of this.#members.values()) post({ kind: "tabs", tabs: this.tabs });
  }
}
