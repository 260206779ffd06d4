// Promises as numbers above 0, whose ends the module asks for.
import { FINE, INVALID } from "./outcome.js";

export class Futures {
  #futures = new Map();
  #last = 0;

  /** `arrived` may set `outcome`, `message` and `result`, the object that the future has made. */
  add(promise, arrived = () => {}) {
    const future = { done: false, outcome: FINE, message: "", result: null };
    future.promise = promise
      .then((value) => arrived(future, value))
      .catch((error) => {
        future.outcome = INVALID;
        future.message = String(error?.message ?? error);
      })
      .then(() => {
        future.done = true;
      });
    this.#last += 1;
    this.#futures.set(this.#last, future);
    return this.#last;
  }

  get(number) {
    const future = this.#futures.get(number >>> 0);
    if (!future) throw new Error(`There is no future ${number}.`);
    return future;
  }

  forget(number) {
    this.#futures.delete(number >>> 0);
  }
}
