// A queue between one side that adds and another that iterates.

export class Queue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #end: { error?: unknown } | null = null;
  #wake = () => {};

  add(one: T): void {
    this.#waiting.push(one);
    this.#wake();
  }

  /** Nothing more comes; with an error the iteration ends with that. */
  end(failed: { error: unknown } | null = null): void {
    this.#end = failed ?? {};
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const one = this.#waiting.shift();
      if (one !== undefined) yield one;
      else if (this.#end && "error" in this.#end) throw this.#end.error;
      else if (this.#end) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
