// An answer token by token, each coloured by its probability. A token that is chosen shows what else could have come, and the answer
// goes on from there with another one.
import type { Engine, Logprob, Piece } from "tokamak-web";
import { h } from "./dom.ts";
import { glass } from "./glass.ts";
import { figure } from "./numbers.ts";

/** Alternatives of each token that are asked for. */
export const ALTERNATIVES = 5;

export interface TokenOfAnswer extends Logprob {
  text: string;
  /** Milliseconds since the one before it. */
  ms: number;
}

/** The record of an answer's tokens while it is written. */
export interface Recording {
  ids: number[];
  logprobs: Logprob[];
  times: number[];
  /** Tokens of the prompt. */
  depth: number;
  add(piece: Piece): void;
}

export function recording(): Recording {
  let last = performance.now();
  const own: Recording = {
    ids: [],
    logprobs: [],
    times: [],
    depth: 0,
    add: ({ ids, logprobs = [] }) => {
      const now = performance.now();
      own.ids.push(...ids);
      own.logprobs.push(...logprobs);
      own.times.push(...ids.map(() => (now - last) / ids.length));
      last = now;
    },
  };
  return own;
}

/** 0 for a token that had to come to 4 for one that hardly could: each class is another colour. */
export function surpriseOf(logprob: number): number {
  const probability = Math.exp(logprob);
  return [0.8, 0.4, 0.15, 0.04].findIndex((least) => probability >= least) + 1 || 5;
}

export const percent = (logprob: number) => `${figure(100 * Math.exp(logprob))} %`;

/** The text of each token as it stands in the answer: many decoders leave out the space before the first one of a text. */
export async function textsOf(engine: Engine, ids: number[]): Promise<string[]> {
  const texts: string[] = [];
  for (const [at, id] of ids.entries()) {
    const before = ids.slice(Math.max(0, at - 1), at);
    const [alone, both] = await Promise.all([before.length ? engine.detokenize(before) : "", engine.detokenize([...before, id])]);
    texts.push(both.startsWith(alone) ? both.slice(alone.length) : both);
  }
  return texts;
}

export async function tokensOf(engine: Engine, { ids, logprobs, times }: Recording): Promise<TokenOfAnswer[]> {
  const texts = await textsOf(engine, ids);
  return logprobs.slice(0, ids.length).map((one, at) => ({ ...one, text: texts[at] ?? "", ms: times[at] ?? 0 }));
}

const shown = (text: string) => (text === "" ? "(end)" : text.replace(/\n/g, "⏎").replace(/^ | $/g, "␣"));

/** `depth`: tokens before the first one. `goOn` gets the text before a token and the token that shall stand there instead. */
export function tokenView(engine: Engine, tokens: TokenOfAnswer[], depth: number, goOn: (before: string, text: string) => void): HTMLElement {
  const under = glass(engine);
  under.element.hidden = true;
  const detail = h("div", { class: "alternatives", role: "status" }, "Choose a word to see what else could have come, and what made it. Arrow keys go from one to the next.");
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
    under.element.hidden = false;
    // A model that cannot be asked just now shows what else could have come all the same.
    void under.show({ depth: depth + at, ms: token.ms }).catch(() => (under.element.hidden = true));
    const before = tokens[at - 1];
    const texts = await Promise.all(token.top.map(async ({ id }) => (await textsOf(engine, [...(before ? [before.id] : []), id])).at(-1)!));
    if (current !== at) return;
    const others = token.top.map(({ id, logprob }, index) => {
      const label = `${shown(texts[index]!)} ${percent(logprob)}`;
      const share = h("span");
      share.style.width = `${100 * Math.exp(logprob)}%`;
      const prefix = () => tokens.slice(0, at).map(({ text }) => text).join("");
      const name = id === token.id
        ? h("strong", {}, label)
        : h("button", { type: "button", class: "quiet", "aria-label": `Go on with ${label}`, onclick: () => goOn(prefix(), texts[index]!) }, label);
      return h("li", {}, name, h("span", { class: "chance", "aria-hidden": "true" }, share));
    });
    detail.replaceChildren(`${shown(token.text)} had ${percent(token.logprob)}. Go on with another one:`, h("ul", {}, ...others));
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
  return h("div", {}, line, detail, under.element);
}
