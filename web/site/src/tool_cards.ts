// A function that a model calls, as a card: its arguments, and what it gives, which the visitor types or accepts.
import type { ToolCall } from "tokamak-web";
import { h } from "./dom.ts";
import { ownAnswer } from "./own_tools.ts";

function argumentsOf({ arguments: values }: ToolCall): HTMLElement {
  const rows = Object.entries(values).flatMap(([name, value]) => [h("dt", {}, name), h("dd", { class: "mono" }, typeof value === "string" ? value : JSON.stringify(value))]);
  return rows.length > 0 ? h("dl", { class: "facts" }, ...rows) : h("p", { class: "hint" }, "Without arguments.");
}

/** `answer`: what it has given, if anything yet; `give` is called with it. */
export function callCard(call: ToolCall, answer: string | undefined, give: (content: string) => void): HTMLElement {
  const card = h("section", { class: "call", "aria-label": `The model calls ${call.name}` }, h("p", {}, "calls ", h("strong", { class: "mono" }, call.name)), argumentsOf(call));
  if (answer !== undefined) {
    card.append(h("p", { class: "given" }, h("span", { class: "faint" }, "gives "), answer));
    return card;
  }
  const own = ownAnswer(call);
  const id = `call-${call.id}`;
  const input = h("input", { id, value: own ?? "", autocomplete: "off", "aria-describedby": `${id}-hint` });
  const form = h(
    "form",
    {},
    h("label", { for: id }, "It gives"),
    h("div", { class: "row" }, input, h("button", { type: "submit" }, own === undefined ? "Answer" : "Accept")),
    h("p", { class: "hint", id: `${id}-hint` }, own === undefined ? "The model waits for what this function gives: type it." : "Computed in this page; accept it, or type something else."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(input.value);
  });
  card.append(form);
  return card;
}
