// A text that comes part by part.
import { TokamakError } from "./errors.ts";

/** Some of a text, and whether nothing follows. */
export interface Part {
  text: string;
  isLast: boolean;
}

export class OpenText {
  #text: string;
  #isLast: boolean;
  #wake = () => {};

  constructor(text: string, isLast: boolean) {
    this.#text = text;
    this.#isLast = isLast;
  }

  write(text: string, isLast: boolean): void {
    this.#text += text;
    this.#isLast = isLast;
    this.#wake();
  }

  /** The text since the last call. */
  now(): Part {
    const text = this.#text;
    this.#text = "";
    return { text, isLast: this.#isLast };
  }

  /** The same, once there is something or its end. Fails with `cancelled`. */
  async take(signal: AbortSignal): Promise<Part> {
    if (this.#text === "" && !this.#isLast && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (signal.aborted) throw new TokamakError("cancelled", "speak was cancelled.");
    return this.now();
  }
}
