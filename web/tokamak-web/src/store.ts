// A value that others look at and are told about, in the shape that React's useSyncExternalStore and
// Svelte take.
export class Store<State extends object> {
  #state: Readonly<State>;
  readonly #listeners = new Set<() => void>();

  constructor(state: State) {
    this.#state = state;
  }

  /** The same object until something changes. */
  readonly getSnapshot = (): Readonly<State> => this.#state;

  /** Adds a listener; the function that it returns removes it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of [...this.#listeners]) listener();
  }
}
