// A wrong answer, with what was expected and what was found.
import { h } from "./dom.ts";
import type { Outcome } from "./suite.ts";

/** Tokens as their numbers; the first one that differs, and what follows it, stands out. */
function idList(ids: number[], differsAt: number): HTMLElement {
  const before = ids.slice(0, differsAt).join(" ");
  const rest = ids.slice(differsAt);
  const first = rest[0] === undefined ? "(ends here)" : String(rest[0]);
  const after = rest.slice(1).join(" ");
  return h("p", { class: "mono ids" }, before && `${before} `, h("strong", { class: "wrong" }, first), after && ` ${after}`);
}

export function outcomeDetails(outcome: Outcome, detokenize: (ids: number[]) => Promise<string>): HTMLElement {
  const { golden, found, differsAt, promptTokens, error } = outcome;
  const panel = h("div", { class: "panel wrong-answer" }, h("h3", { class: "wrong" }, `✗ ${golden.prompt.slice(0, 80)}`));
  if (error) panel.append(h("p", { class: "wrong" }, error));
  if (promptTokens !== undefined) {
    panel.append(h("p", { class: "wrong" }, `The prompt has ${promptTokens} tokens here and ${golden.promptIds.length} in the recording.`));
  }
  if (!found || differsAt === undefined) return panel;
  const margin = golden.margins[differsAt];
  const close = margin === undefined ? "" : ` The recorded token was ahead of the second one by ${margin.toFixed(4)} logits.`;
  panel.append(h("p", {}, `Token ${differsAt + 1} of ${golden.ids.length} is the first that differs.${close}`));
  for (const [title, ids] of [["Expected", golden.ids], ["Found", found]] as const) {
    const text = h("p", { class: "faint" });
    panel.append(h("h4", {}, title), idList(ids, differsAt), text);
    // Models without a vocabulary have no text.
    detokenize(ids).then((shown) => (text.textContent = shown), () => text.remove());
  }
  return panel;
}
