// The part of an answer in which a model reasons, between <think> and </think>. Some templates write the opening mark into the prompt,
// so that an answer begins in it.
import type { Piece } from "tokamak-web";

const THINK = { open: "<think>\n", close: "\n</think>\n\n" };

/** Puts an answer's parts together as conversations keep it, with its reasoning between marks. `before`: what there is of it. */
export function marked(before: string): (piece: Pick<Piece, "text" | "reasoning" | "toolCalls">) => string {
  let isReasoning = partsOf(before).isReasoning;
  const enter = (reasons: boolean) => {
    if (reasons === isReasoning) return "";
    isReasoning = reasons;
    return reasons ? THINK.open : THINK.close;
  };
  return ({ text, reasoning, toolCalls }) => (reasoning ? enter(true) + reasoning : "") + (text || toolCalls ? enter(false) + text : "");
}

export interface Parts {
  reasoning: string;
  answer: string;
  /** The answer has not begun. */
  isReasoning: boolean;
}

const OPEN = /^\s*<(think|thinking|reasoning)>/;
const CLOSE = /<\/(?:think|thinking|reasoning)>/;

export function partsOf(text: string): Parts {
  const open = OPEN.exec(text);
  const inside = open ? text.slice(open[0].length) : text;
  const close = CLOSE.exec(inside);
  if (close) return { reasoning: inside.slice(0, close.index).trim(), answer: inside.slice(close.index + close[0].length).trimStart(), isReasoning: false };
  return open ? { reasoning: inside.trim(), answer: "", isReasoning: true } : { reasoning: "", answer: text, isReasoning: false };
}
