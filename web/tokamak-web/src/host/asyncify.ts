// Suspends a module that Binaryen has transformed (wasm-opt --asyncify), for browsers whose WebAssembly
// cannot suspend by itself. To suspend, every function on the stack writes its locals into a buffer and
// returns. To resume, the export is called again: every function takes its locals back and goes on to the
// call that it was in, down to the import, which now has its result.
import type { Export, SuspendingImport, Waiting } from "./waiting.ts";

// The deepest stack at a wait, several times over. One that needs more ends in a trap.
const BUFFER_BYTES = 256 * 1024;

// The states of asyncify_get_state(); 0 where neither is in progress.
const UNWINDS = 1;
const REWINDS = 2;

interface AsyncifyExports {
  memory: WebAssembly.Memory;
  tokamak_memory(bytes: number): number;
  asyncify_get_state(): number;
  asyncify_start_unwind(buffer: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(buffer: number): void;
  asyncify_stop_rewind(): void;
}

export class Asyncify implements Waiting {
  readonly kind = "asyncify";
  #exports: AsyncifyExports | null = null;
  #buffer = 0;
  #busy = false;
  /** The promise that the module waits for. */
  #promise: Promise<number | void> | null = null;
  /** Gives what the promise has brought, or throws why it has failed. */
  #settled: () => number | void = () => {};

  suspending(wait: SuspendingImport): (...values: number[]) => number | void {
    return (...values) => {
      const exports = this.#attached();
      if (exports.asyncify_get_state() === REWINDS) {
        exports.asyncify_stop_rewind();
        return this.#settled();
      }
      const result = wait(...values);
      if (!(result instanceof Promise)) return result;
      if (!this.#busy) throw new Error("Only a call that gives a promise can suspend the module.");
      this.#promise = result;
      exports.asyncify_start_unwind(this.#buffer);
      return 0; // nobody looks at it
    };
  }

  /** The module's own memory has the buffer, so that this comes after _initialize(). */
  attach(given: WebAssembly.Exports): void {
    const exports = given as unknown as AsyncifyExports;
    if (typeof exports.asyncify_start_unwind !== "function") {
      throw new Error("The module cannot suspend itself: it is not the one for Asyncify.");
    }
    this.#buffer = exports.tokamak_memory(BUFFER_BYTES) >>> 0;
    if (this.#buffer === 0) throw new Error("The module has no memory to suspend in.");
    this.#exports = exports;
  }

  promising(run: Export): (...values: number[]) => Promise<number> {
    return async (...values) => {
      const exports = this.#attached();
      // The module has one stack.
      if (this.#busy) throw new Error("The module is in the middle of another call.");
      this.#busy = true;
      this.#clear(exports);
      try {
        let result = run(...values);
        while (exports.asyncify_get_state() === UNWINDS) {
          exports.asyncify_stop_unwind();
          await this.#settle();
          exports.asyncify_start_rewind(this.#buffer);
          result = run(...values);
        }
        return result;
      } finally {
        this.#busy = false;
        this.#promise = null;
      }
    };
  }

  /** The next value's place, and the end, stand at the beginning of the buffer. */
  #clear(exports: AsyncifyExports): void {
    const bounds = new Uint32Array(exports.memory.buffer, this.#buffer, 2);
    bounds.set([this.#buffer + 8, this.#buffer + BUFFER_BYTES]);
  }

  async #settle(): Promise<void> {
    try {
      const value = await this.#promise;
      this.#settled = () => value ?? undefined;
    } catch (error) {
      this.#settled = () => {
        throw error;
      };
    }
  }

  #attached(): AsyncifyExports {
    if (!this.#exports) throw new Error("Asyncify has no module yet.");
    return this.#exports;
  }
}
