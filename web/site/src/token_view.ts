// An answer token by token, each coloured by its probability. A token that is chosen shows what else could have come, and the answer
// goes on from there with another one.
import type { Engine, Logprob } from "tokamak-web";
import { h } from "./dom.ts";
import { figure } from "./numbers.ts";

/** Alternatives of each token that are asked for. */
export const ALTERNATIVES = 5;

export interface TokenOfAnswer extends Logprob {
  text: string;
}

/** 0 for a token that had to come to 4 for one that hardly could: each class is another colour. */
export function surpriseOf(logprob: number): number {
  const probability = Math.exp(logprob);
  return [0.8, 0.4, 0.15, 0.04].findIndex((least) => probability >= least) + 1 || 5;
}

export const percent = (logprob: number) => `${figure(100 * Math.exp(logprob))} %`;

/** The text of each token as it stands in the answer: many decoders leave out the space before the first one of a text. */
async function textsOf(engine: Engine, ids: number[]): Promise<string[]> {
  const texts: string[] = [];
  for (const [at, id] of ids.entries()) {
    const before = ids.slice(Math.max(0, at - 1), at);
    const [alone, both] = await Promise.all([before.length ? engine.detokenize(before) : "", engine.detokenize([...before, id])]);
    texts.push(both.startsWith(alone) ? both.slice(alone.length) : both);
  }
  return texts;
}

export async function tokensOf(engine: Engine, ids: number[], logprobs: Logprob[]): Promise<TokenOfAnswer[]> {
  const texts = await textsOf(engine, ids);
  return logprobs.slice(0, ids.length).map((one, at) => ({ ...one, text: texts[at] ?? "" }));
}

const shown = (text: string) => (text === "" ? "(end)" : text.replace(/\n/g, "⏎").replace(/^ | $/g, "␣"));

/** `goOn` gets the text before a token and the token that shall stand there instead. */
export function tokenView(engine: Engine, tokens: TokenOfAnswer[], goOn: (before: string, text: string) => void): HTMLElement {
  const detail = h("p", { class: "alternatives", role: "status" }, "Choose a word to see what else could have come. Arrow keys go from one to the next.");
  const buttons = tokens.map(({ text, logprob }, at) =>
    h("button", { type: "button", class: `tok surprise${surpriseOf(logprob)}`, tabindex: at === 0 ? 0 : -1, "aria-label": `${shown(text)}, ${percent(logprob)}` }, text || " "));
  let current = -1;

  async function choose(at: number): Promise<void> {
    const token = tokens[at];
    if (!token || at === current) return;
    buttons[current]?.classList.remove("current");
    buttons[current]?.setAttribute("tabindex", "-1");
    current = at;
    buttons[at]!.classList.add("current");
    buttons[at]!.setAttribute("tabindex", "0");
    const before = tokens[at - 1];
    const texts = await Promise.all(token.top.map(async ({ id }) => (await textsOf(engine, [...(before ? [before.id] : []), id])).at(-1)!));
    if (current !== at) return;
    const others = token.top.map(({ id, logprob }, index) => {
      const label = `${shown(texts[index]!)} ${percent(logprob)}`;
      if (id === token.id) return h("strong", {}, label);
      const prefix = () => tokens.slice(0, at).map(({ text }) => text).join("");
      return h("button", { type: "button", class: "quiet", "aria-label": `Go on with ${label}`, onclick: () => goOn(prefix(), texts[index]!) }, label);
    });
    detail.replaceChildren(`${shown(token.text)} had ${percent(token.logprob)}. Go on with another one: `, ...others);
  }

  const line = h("div", { class: "text answer-tokens", role: "group", "aria-label": "Tokens of the answer" }, ...buttons);
  line.addEventListener("focusin", ({ target }) => void choose(buttons.indexOf(target as HTMLButtonElement)));
  line.addEventListener("click", ({ target }) => void choose(buttons.indexOf(target as HTMLButtonElement)));
  line.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = buttons[current + step];
    if (step === 0 || !next) return;
    event.preventDefault();
    next.focus();
  });
  return h("div", {}, line, detail);
}
