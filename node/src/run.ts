// A text in flight, as pieces to iterate over and as a whole.
import { addon, type FlowHandle } from "./addon.ts";
import { Queue } from "./queue.ts";
import type { Generation, Piece, Run } from "./text_api.ts";

type Begin = (onPiece: (piece: Piece) => void, onEnd: (error: unknown, result: Generation) => void) => FlowHandle | Promise<FlowHandle>;

/** A run that `begin` begins. What it fails with is the failure of the run. */
export class ActiveRun implements Run {
  readonly result: Promise<Generation>;
  readonly #pieces = new Queue<Piece>();
  #flow: FlowHandle | undefined;
  #isCancelled = false;
  #hasEnded = false;

  constructor(begin: Begin, signal: AbortSignal | undefined) {
    const cancel = () => this.cancel();
    this.result = new Promise((resolve, reject) => {
      const end = (error: unknown, result: Generation) => (error === undefined ? resolve(result) : reject(error));
      void this.#begin(begin, end).catch(reject);
    });
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) this.cancel();
    const ended = (failure?: { error: unknown }) => {
      this.#hasEnded = true;
      signal?.removeEventListener("abort", cancel);
      this.#pieces.end(failure);
    };
    // A reader of the pieces gets the error there, and need not look at the result.
    this.result.then(
      () => ended(),
      (error: unknown) => ended({ error }),
    );
  }

  /** Begins at once where `begin` gives no promise: texts that wait go on in the order in which they were asked for. */
  async #begin(begin: Begin, onEnd: (error: unknown, result: Generation) => void): Promise<void> {
    const flow = begin((piece) => this.#pieces.add(piece), onEnd);
    this.#flow = flow instanceof Promise ? await flow : flow;
    if (this.#isCancelled) addon().cancel(this.#flow);
  }

  cancel(): void {
    this.#isCancelled = true;
    if (this.#flow) addon().cancel(this.#flow);
  }

  async text(): Promise<string> {
    return (await this.result).text;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Piece, void, undefined> {
    try {
      yield* this.#pieces;
    } finally {
      if (!this.#hasEnded) this.cancel();
    }
  }
}
