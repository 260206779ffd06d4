// A recorded answer beside the one that comes, token by token; and by how much each recorded token was ahead of the second one.
import { h } from "./dom.ts";
import type { Golden } from "./suite.ts";

/** Logits: below the first a tie is near, and above the second a bar is whole. */
const [NEAR, FAR] = [0.1, 8];
const BAR_PX = 26;

export interface SideBySide {
  readonly element: HTMLElement;
  /** Adds tokens of the answer that comes. */
  add(ids: number[]): void;
  /** The answer has ended, with tokens that are missing or not. */
  end(): void;
}

function marginBars({ margins }: Golden): HTMLElement {
  const bars = margins.map((margin, at) => {
    const bar = h("span", { class: margin < NEAR ? "near" : "", title: `token ${at + 1}: ahead by ${margin.toFixed(3)} logits` });
    bar.style.height = `${Math.max(2, Math.round(BAR_PX * Math.min(1, margin / FAR)))}px`;
    return bar;
  });
  const near = margins.filter((margin) => margin < NEAR).length;
  return h("div", { class: "margins" }, h("div", { "aria-hidden": "true" }, ...bars), h("p", { class: "hint" }, `How far each token was ahead of the second one${near > 0 ? `; ${near} near tie${near === 1 ? "" : "s"}, where rounding may decide` : ""}.`));
}

/** `textsOf`: the text of each token where it stands; where there are none the ids are shown. */
export function sideBySide(golden: Golden, textsOf: (ids: number[]) => Promise<string[]>): SideBySide {
  const found: number[] = [];
  const expectedText = h("p", { class: "text tokens-of" });
  const foundText = h("p", { class: "text tokens-of" });
  const status = h("span", { class: "faint" }, "waits");
  const isSame = (at: number) => found[at] === golden.ids[at];
  /** The texts of tokens that follow `before`. */
  const textsAfter = async (before: number[], ids: number[]) => (await textsOf([...before, ...ids]).catch(() => [...before, ...ids].map((id) => `${id} `))).slice(before.length);

  /** One after the other: a token's text takes the one before it. */
  let drawn = textsAfter([], golden.ids).then((texts) => expectedText.replaceChildren(...texts.map((text) => h("span", { class: "faint" }, text))));
  async function draw(ids: number[]): Promise<void> {
    const first = found.length;
    const texts = await textsAfter(found.slice(-1), ids);
    found.push(...ids);
    for (const [index, text] of texts.entries()) {
      const kind = isSame(first + index) ? "right" : "wrong";
      foundText.append(h("span", { class: kind }, text));
      if (expectedText.children[first + index]) expectedText.children[first + index]!.className = kind;
    }
    status.textContent = `${golden.ids.filter((_, at) => isSame(at)).length} of ${golden.ids.length} tokens`;
  }

  return {
    element: h(
      "article",
      { class: "side-by-side" },
      h("h3", {}, golden.prompt.slice(0, 80), " ", status),
      h("div", { class: "two" }, h("div", {}, h("h4", {}, "Recorded"), expectedText), h("div", {}, h("h4", {}, "Here"), foundText)),
      marginBars(golden),
    ),
    add: (ids) => void (drawn = drawn.then(() => draw(ids))),
    end: () =>
      void drawn.then(() => {
        for (const rest of [...expectedText.children].slice(found.length)) rest.className = "wrong";
      }),
  };
}
