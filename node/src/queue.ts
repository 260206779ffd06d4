// A queue that one side fills and another empties in a loop.

export class Queue<T extends object> implements AsyncIterable<T> {
  readonly #members: T[] = [];
  #failure: { error: unknown } | undefined;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  add(member: T): void {
    this.#members.push(member);
    this.#wake?.();
  }

  /** Ends the loop after what was added, with an error where there is one. */
  end(failure?: { error: unknown }): void {
    this.#hasEnded = true;
    this.#failure = failure;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const member = this.#members.shift();
      if (member) {
        yield member;
      } else if (this.#hasEnded) {
        if (this.#failure) throw this.#failure.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
