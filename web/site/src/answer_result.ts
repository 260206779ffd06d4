// The line below an answer: its tokens, its speed, and why it has ended.
import type { Generation } from "tokamak-web";
import { figure, seconds } from "./numbers.ts";

const ENDED: Record<Generation["finish"], string> = {
  end: "",
  stop: "",
  grammar: "",
  length: "The answer was cut at its longest.",
  context: "The context is full.",
  cancelled: "Stopped.",
};

/** `first`: seconds until the first token was there. */
export function resultText({ tokens, decodeSeconds, promptTokens, cachedTokens, finish }: Generation, first: number): string {
  const rate = decodeSeconds > 0 ? `, ${figure((tokens - 1) / decodeSeconds)} tokens/s` : "";
  const reused = cachedTokens > 0 ? `, ${cachedTokens} of them kept from before` : "";
  return `${tokens} tokens${rate}; first after ${seconds(first)}; prompt of ${promptTokens} tokens${reused}. ${ENDED[finish]}`;
}
