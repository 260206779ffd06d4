// The field for the codec of a model that speaks, which the page's address may name: ?codec=NAME-OR-URL
import { h } from "./dom.ts";

export function codecInput(): HTMLInputElement {
  return h("input", { id: "codec", autocomplete: "off", spellcheck: "false", value: new URLSearchParams(location.search).get("codec") ?? "" });
}

/** With its label and what it is. */
export function codecField(input: HTMLInputElement): HTMLElement[] {
  return [
    h("label", { for: input.id }, "Codec"),
    h("div", { class: "row" }, input),
    h("p", { class: "hint" }, "What makes sound of the model's codes, a folder with config.json and model.safetensors, by its address or its name. NVIDIA's .nemo file is not read here."),
  ];
}
