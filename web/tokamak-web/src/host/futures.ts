// Promises as numbers above 0, whose ends the module asks for.
import { FINE, INVALID, type Outcome } from "./outcome.ts";

export interface Future {
  done: boolean;
  outcome: Outcome;
  message: string;
  /** The object that the future has made. */
  result: object | null;
  /** Never rejects: how it ended stands in `outcome`. */
  promise: Promise<void>;
}

export class Futures {
  readonly #futures = new Map<number, Future>();
  #last = 0;

  /** `arrived` may set `outcome`, `message` and `result`. */
  add<T>(promise: Promise<T>, arrived: (future: Future, value: T) => void = () => {}): number {
    const future: Future = {
      done: false,
      outcome: FINE,
      message: "",
      result: null,
      promise: Promise.resolve(),
    };
    future.promise = promise
      .then((value) => arrived(future, value))
      .catch((error: unknown) => {
        future.outcome = INVALID;
        future.message = error instanceof Error ? error.message : String(error);
      })
      .then(() => {
        future.done = true;
      });
    this.#last += 1;
    this.#futures.set(this.#last, future);
    return this.#last;
  }

  get(number: number): Future {
    const future = this.#futures.get(number >>> 0);
    if (!future) throw new Error(`There is no future ${number}.`);
    return future;
  }

  forget(number: number): void {
    this.#futures.delete(number >>> 0);
  }
}
