// The tokens that the model's tokenizer makes of a text, as it is typed.
import type { Look } from "tokamak-web";
import { copyButton, h } from "./dom.ts";
import { showError } from "./shell.ts";

const SAMPLE = "Once upon a time, there was a little robot. It counted: 1, 10, 1234567!\nÜber naïve cafés — 你好 🙂";
const MOST_SHOWN = 4000;
const COLOURS = 6;

/** Spaces and ends of lines are seen. */
const seen = (text: string) => text.replaceAll(" ", "·").replaceAll("\t", "→").replaceAll("\n", "⏎") || "∅";

export function tokenPlayground(panel: HTMLElement, engine: Look): void {
  const input = h("textarea", { id: "token-text", rows: 4, spellcheck: "false" });
  input.value = SAMPLE;
  const special = h("input", { type: "checkbox", id: "token-special", checked: true });
  const withIds = h("input", { type: "checkbox", id: "token-ids", checked: true });
  const count = h("p", { class: "status", role: "status" });
  const out = h("div", { class: "tokens", role: "region", tabindex: 0, "aria-label": "Tokens" });
  let ids: number[] = [];
  let turn = 0;

  async function update(): Promise<void> {
    turn += 1;
    const mine = turn;
    const text = input.value;
    const tokens = await engine.tokens(text, { special: special.checked });
    if (mine !== turn) return; // typed on meanwhile
    ids = tokens.map(({ id }) => id);
    panel.querySelector(":scope > .error")?.remove();
    const bytes = new TextEncoder().encode(text).length;
    const each = tokens.length > 0 ? `, ${(bytes / tokens.length).toFixed(2)} bytes a token` : "";
    count.textContent = `${tokens.length} tokens, ${[...text].length} characters, ${bytes} bytes${each}.`;
    out.replaceChildren(
      ...tokens.slice(0, MOST_SHOWN).map(({ id, text: piece }, index) =>
        h(
          "span",
          { class: `token colour${index % COLOURS}`, title: `token ${index}: id ${id}` },
          h("span", { class: "piece" }, seen(piece)),
          withIds.checked && h("span", { class: "id" }, String(id)),
        ),
      ),
      tokens.length > MOST_SHOWN ? ` and ${tokens.length - MOST_SHOWN} more` : "",
    );
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update().catch((error: unknown) => showError(panel, error)), 100);
  };
  for (const one of [input, special, withIds]) one.addEventListener("input", soon);
  panel.replaceChildren(
    h("label", { for: "token-text" }, "Text"),
    input,
    h(
      "p",
      { class: "row" },
      h("label", { class: "check" }, special, "with the tokens that a text begins and ends with"),
      h("label", { class: "check" }, withIds, "ids"),
      copyButton(() => JSON.stringify(ids), "Copy ids"),
    ),
    count,
    out,
  );
  soon();
}
