// Steps the module while a text or a request is running, and hands out what the steps bring.
import type { Piece } from "./api.ts";
import { type ErrorData, TokamakError, errorData } from "./errors.ts";
import { Gather } from "./gather.ts";
import type { VerbCaller } from "./models/types.ts";
import type { Part, StepEvent, StepReply, WrittenPiece } from "./protocol.ts";
import { freshId } from "./random.ts";
import { callOf } from "./tool_calls.ts";

/** Whom the answers of a text or a request go to. */
export interface Asker {
  part(part: Part): void;
  result(result: unknown): void;
  error(error: ErrorData): void;
}

interface Active {
  asker: Asker;
  pieces: Gather;
}

/** Lets messages of the page have their turn, which a module that does not suspend would keep from it. */
export class Turns {
  readonly #channel = new MessageChannel();
  #resolve = () => {};

  constructor() {
    this.#channel.port1.onmessage = () => this.#resolve();
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#channel.port2.postMessage(null);
    });
  }

  end(): void {
    this.#channel.port1.close();
  }
}

function pieceOf({ text, ids, logprobs, reasoning, calls }: WrittenPiece): Piece {
  const toolCalls = calls?.flatMap((call) => callOf(freshId(), call));
  return { text, ids, ...(logprobs && { logprobs }), ...(reasoning && { reasoning }), ...(toolCalls && { toolCalls }) };
}

export class Pump {
  readonly #module: VerbCaller;
  readonly #active = new Map<string, Active>();
  #runs = false;

  constructor(module: VerbCaller) {
    this.#module = module;
  }

  /** A text (`request`) or a request of the OpenAI-shaped API (`exchange`) that the module has begun. */
  add(kind: "request" | "exchange", number: number, asker: Asker): void {
    const pieces = new Gather((piece) => asker.part({ kind: "piece", piece }));
    this.#active.set(`${kind} ${number}`, { asker, pieces });
    if (!this.#runs) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#runs = true;
    const turns = new Turns(); // one channel for all steps: making one takes as long as a small step
    try {
      while (this.#active.size > 0) {
        const { more, events } = (await this.#module.call("step", {})) as StepReply;
        for (const event of events) this.#route(event);
        if (!more && this.#active.size > 0) {
          throw new TokamakError("internal", "The engine has left a text without its end.");
        }
        await turns.next();
      }
    } catch (error) {
      const active = [...this.#active.values()];
      this.#active.clear();
      for (const { asker, pieces } of active) {
        pieces.flush();
        asker.error(errorData(error));
      }
    } finally {
      turns.end();
      this.#runs = false;
    }
  }

  #route(event: StepEvent): void {
    if ("request" in event) {
      const key = `request ${event.request}`;
      const active = this.#active.get(key);
      if (!active) return; // its page has gone
      const { done, error } = event;
      if (done) this.#end(key, active, (asker) => asker.result(done));
      else if (error) this.#end(key, active, (asker) => asker.error(error));
      else active.pieces.add(pieceOf(event));
      return;
    }
    const key = `exchange ${event.exchange}`;
    const active = this.#active.get(key);
    if (!active) return;
    const { status, contentType = "application/json", body, end } = event;
    if (status !== undefined) active.asker.part({ kind: "head", status, contentType });
    if (body) active.asker.part({ kind: "body", text: body });
    if (end) this.#end(key, active, (asker) => asker.result({}));
  }

  #end(key: string, { asker, pieces }: Active, tell: (asker: Asker) => void): void {
    pieces.flush();
    this.#active.delete(key);
    tell(asker);
  }
}

/** The result that a pump brings; the signal cancels, and the text ends with what there is. */
export function ended(
  asker: Asker,
  signal: AbortSignal,
  cancel: () => Promise<unknown>,
  add: (asker: Asker) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A module that cannot cancel any more fails in the pump as well, which tells the page.
    const stop = () => void cancel().catch(() => {});
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    add({
      part: (part) => asker.part(part),
      result: resolve,
      error: (error) => reject(new TokamakError(error.code, error.message, error.details)),
    });
  });
}
