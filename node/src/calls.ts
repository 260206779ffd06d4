// Calls that take their time: what a signal ends, and what a callback of the user's throws.
import { addon, type Cancellation } from "./addon.ts";
import { TokamakError } from "./errors.ts";

export class Calls {
  readonly cancellation: Cancellation = addon().cancellation();
  #thrown: { error: unknown } | undefined;
  #hasEnded = false;

  /** A callback for the addon. What it throws cancels the call, and comes out of that; once the call has ended, it is not called. */
  guard<T extends unknown[]>(callback: ((...args: T) => void) | undefined): ((...args: T) => void) | undefined {
    if (!callback) return undefined;
    return (...args) => {
      if (this.#thrown || this.#hasEnded) return;
      try {
        callback(...args);
      } catch (error) {
        this.#thrown = { error };
        addon().cancel(this.cancellation);
      }
    };
  }

  async run<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted) throw new TokamakError("cancelled", "The signal of the call was aborted before it began.");
    const cancel = () => addon().cancel(this.cancellation);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const result = await call();
      if (this.#thrown) throw this.#thrown.error;
      return result;
    } catch (error) {
      throw this.#thrown ? this.#thrown.error : error;
    } finally {
      this.#hasEnded = true;
      signal?.removeEventListener("abort", cancel);
    }
  }
}

/** The result of a call without callbacks, which a signal may end. */
export function cancellable<T>(call: (cancellation: Cancellation) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const calls = new Calls();
  return calls.run(() => call(calls.cancellation), signal);
}
