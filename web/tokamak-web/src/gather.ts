// Pieces of a text, put together so that the page gets a message per 16 ms and not per token.
import type { Piece } from "./api.ts";

export const GATHER_MS = 16;

export class Gather {
  readonly #post: (piece: Piece) => void;
  #waiting: Piece | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #last = -Infinity;

  constructor(post: (piece: Piece) => void) {
    this.#post = post;
  }

  add({ text, ids = [], logprobs, reasoning, toolCalls }: Piece): void {
    const waiting = (this.#waiting ??= { text: "", ids: [] });
    waiting.text += text;
    waiting.ids.push(...ids);
    if (logprobs) (waiting.logprobs ??= []).push(...logprobs);
    if (reasoning) waiting.reasoning = (waiting.reasoning ?? "") + reasoning;
    if (toolCalls) (waiting.toolCalls ??= []).push(...toolCalls);
    const rest = this.#last + GATHER_MS - performance.now();
    if (rest <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), rest);
  }

  /** Posts what waits. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#waiting) return;
    const piece = this.#waiting;
    this.#waiting = null;
    this.#last = performance.now();
    this.#post(piece);
  }
}
