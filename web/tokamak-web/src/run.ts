// A text under way, as pieces to iterate over and as a whole.
import type { Generation, Piece, Run } from "./api.ts";

/** What `start` is given calls `piece` for each piece; the promise it returns is the result's. */
export class RunUnderWay implements Run {
  readonly result: Promise<Generation>;
  readonly #cancel: () => void;
  #pieces: Piece[] = [];
  #ended = false;
  #failed: { error: unknown } | null = null;
  #wake: (() => void) | null = null;

  constructor(start: (piece: (piece: Piece) => void) => { result: Promise<Generation>; cancel(): void }) {
    const { result, cancel } = start((piece) => {
      this.#pieces.push(piece);
      this.#wake?.();
    });
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
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece) yield piece;
        else if (this.#failed) throw this.#failed.error;
        else if (this.#ended) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      if (!this.#ended) this.cancel();
    }
  }

  #end(failed: { error: unknown } | null): void {
    this.#ended = true;
    this.#failed = failed;
    this.#wake?.();
  }
}
