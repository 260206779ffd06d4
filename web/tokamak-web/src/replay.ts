// A text that is computed twice, because the engine stopped in its middle: what the reader has is left out of the
// second one as long as it is the same, token by token.
import type { Generation, Piece, ToolCall } from "./api.ts";
import { TokamakError } from "./errors.ts";
import type { Ending } from "./protocol.ts";

export class ReplayedText {
  #text = "";
  #reasoning = "";
  readonly #ids: number[] = [];
  readonly #calls: ToolCall[] = [];
  /** How much of it has come again. */
  #again = { text: 0, reasoning: 0, ids: 0, calls: 0 };
  #differs = false;

  /** From here on the text comes from its beginning. */
  repeat(): void {
    this.#again = { text: 0, reasoning: 0, ids: 0, calls: 0 };
  }

  /** The parts of a chat's answer beside its text. */
  get parts(): { reasoning: string; toolCalls: ToolCall[] } {
    return { reasoning: this.#reasoning, toolCalls: this.#calls };
  }

  /** Whether the second text is another one, so that nothing more of it is of use. */
  get differs(): boolean {
    return this.#differs;
  }

  /** The new part of a piece; null where there is none. */
  add({ text, ids, logprobs, reasoning = "", toolCalls = [] }: Piece): Piece | null {
    const seen = {
      text: this.#text.length - this.#again.text,
      reasoning: this.#reasoning.length - this.#again.reasoning,
      ids: this.#ids.length - this.#again.ids,
      calls: this.#calls.length - this.#again.calls,
    };
    const differing = ids.slice(0, seen.ids).findIndex((id, i) => id !== this.#ids[this.#again.ids + i]);
    if (differing >= 0 || !this.#text.startsWith(text.slice(0, seen.text), this.#again.text)) {
      this.#differs = true;
      this.#again.ids += Math.max(0, differing);
    }
    if (this.#differs) return null;
    this.#again.text += text.length;
    this.#again.reasoning += reasoning.length;
    this.#again.ids += ids.length;
    this.#again.calls += toolCalls.length;
    const piece: Piece = { text: text.slice(seen.text), ids: ids.slice(seen.ids) };
    const thought = reasoning.slice(seen.reasoning);
    const calls = toolCalls.slice(seen.calls);
    if (logprobs) piece.logprobs = logprobs.slice(seen.ids);
    if (thought) piece.reasoning = thought;
    if (calls.length > 0) piece.toolCalls = calls;
    this.#text += piece.text;
    this.#reasoning += thought;
    this.#ids.push(...piece.ids);
    this.#calls.push(...calls);
    return piece.text || thought || piece.ids.length > 0 || calls.length > 0 ? piece : null;
  }

  /** All of the text; fails with `crashed` where the second one was another. */
  end(ending: Ending): Generation {
    const whole = { text: this.#text, ids: this.#ids };
    if (!this.#differs && this.#again.ids === this.#ids.length) return { ...ending, ...whole };
    // Cancelled before it was where it had been.
    if (!this.#differs && ending.finish === "cancelled") return { ...ending, ...whole, tokens: this.#ids.length };
    throw new TokamakError(
      "crashed",
      `The engine has stopped in the middle of a text; opened again it gives other tokens from number ${this.#again.ids + 1} on.`,
    );
  }
}
