// A running text, as pieces to iterate over and as a whole.
import type { Generation, Piece, Run } from "./api.ts";
import { Queue } from "./queue.ts";

/** A run that calls the `piece` of `start` for each piece; the promise it returns is the result's. */
export class ActiveRun<End extends Generation = Generation> implements Run<End> {
  readonly result: Promise<End>;
  readonly #cancel: () => void;
  readonly #pieces = new Queue<Piece>();
  #ended = false;

  constructor(start: (piece: (piece: Piece) => void) => { result: Promise<End>; cancel(): void }) {
    const { result, cancel } = start((piece) => this.#pieces.add(piece));
    this.result = result;
    this.#cancel = cancel;
    // A reader of the pieces gets the error there, and need not look at the result.
    result.then(
      () => this.#end(null),
      (error: unknown) => this.#end({ error }),
    );
  }

  cancel(): void {
    this.#cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Piece, void, undefined> {
    try {
      yield* this.#pieces;
    } finally {
      if (!this.#ended) this.cancel();
    }
  }

  #end(failed: { error: unknown } | null): void {
    this.#ended = true;
    this.#pieces.end(failed);
  }
}
