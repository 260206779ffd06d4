// The panel of sampling settings, each with what it means. Empty fields are as the model recommends.
import type { GenerateOptions } from "tokamak-web";
import { h } from "./dom.ts";
import { forget, keep, kept as keptText } from "./kept.ts";

interface Setting {
  name: "maxTokens" | "temperature" | "topK" | "topP" | "minP" | "repetitionPenalty" | "presencePenalty" | "frequencyPenalty" | "seed";
  title: string;
  meaning: string;
  min: number;
  max: number;
  step: number;
}

const SETTINGS: Setting[] = [
  { name: "maxTokens", title: "Longest answer", meaning: "Tokens at most; a token is some three quarters of a word.", min: 1, max: 32768, step: 1 },
  { name: "temperature", title: "Temperature", meaning: "0: always the most probable token. 1: as the model has learnt. Above: wilder.", min: 0, max: 2, step: 0.05 },
  { name: "topK", title: "Top k", meaning: "Only the k most probable tokens may come; 0: all.", min: 0, max: 1000, step: 1 },
  { name: "topP", title: "Top p", meaning: "Only the most probable tokens that together have this share; 1: all.", min: 0, max: 1, step: 0.01 },
  { name: "minP", title: "Min p", meaning: "Only tokens with this share of the most probable one's probability; 0: all.", min: 0, max: 1, step: 0.01 },
  { name: "repetitionPenalty", title: "Repetition penalty", meaning: "Above 1 tokens that were there become less probable.", min: 0.5, max: 2, step: 0.01 },
  { name: "presencePenalty", title: "Presence penalty", meaning: "Above 0 tokens that the answer has become less probable; below 0 more.", min: -2, max: 2, step: 0.1 },
  { name: "frequencyPenalty", title: "Frequency penalty", meaning: "The same, for every time that it has them.", min: -2, max: 2, step: 0.1 },
  { name: "seed", title: "Seed", meaning: "The same number gives the same answer again; empty: another one each time.", min: 0, max: 2 ** 53 - 1, step: 1 },
];

/** Settings at once: "Exact" has the most probable token each time. */
const PRESETS: Record<string, Partial<Record<Setting["name"], number>>> = {
  Exact: { temperature: 0 },
  Balanced: { temperature: 0.7, topP: 0.9, minP: 0.02 },
  Wild: { temperature: 1.3, topK: 0, topP: 1, minP: 0.05 },
};

const KEY = "tokamak.sampling";
const TOKENS = "tokamak.tokens";

export interface Sampling {
  readonly element: HTMLElement;
  /** Shows what the model recommends where nothing is set. */
  recommend(defaults: GenerateOptions): void;
  values(): GenerateOptions;
  /** Whether each token's probability is wanted. */
  wantsTokens(): boolean;
}

export function sampling(): Sampling {
  const kept = JSON.parse(keptText(KEY) ?? "{}") as Record<string, number>;
  const inputs = new Map<Setting["name"], HTMLInputElement>();
  const values = (): GenerateOptions => {
    const found: Record<string, number> = {};
    for (const [name, input] of inputs) {
      if (input.value !== "" && input.checkValidity()) found[name] = input.valueAsNumber;
    }
    return found;
  };
  const rows = SETTINGS.map(({ name, title, meaning, min, max, step }) => {
    const id = `sampling-${name}`;
    const input = h("input", { id, type: "number", min, max, step, value: kept[name], "aria-describedby": `${id}-meaning` });
    input.addEventListener("change", () => keep(KEY, JSON.stringify(values())));
    inputs.set(name, input);
    return h("div", { class: "setting" }, h("label", { for: id }, title), input, h("p", { class: "hint", id: `${id}-meaning` }, meaning));
  });
  const tokens = h("input", { type: "checkbox", id: "sampling-tokens", checked: keptText(TOKENS) !== null });
  tokens.addEventListener("change", () => (tokens.checked ? keep(TOKENS, "") : forget(TOKENS)));
  const reset = h("button", { type: "button", class: "quiet" }, "As the model recommends");
  reset.addEventListener("click", () => {
    for (const input of inputs.values()) input.value = "";
    forget(KEY);
  });
  const presets = Object.entries(PRESETS).map(([title, preset]) => {
    const choose = () => {
      for (const [name, input] of inputs) {
        // The length and the seed are no matter of taste.
        if (name !== "maxTokens" && name !== "seed") input.value = String(preset[name] ?? "");
      }
      keep(KEY, JSON.stringify(values()));
    };
    return h("button", { type: "button", class: "quiet", onclick: choose }, title);
  });
  return {
    element: h("details", { class: "panel" }, h("summary", {}, "Settings"), h("label", { class: "check" }, tokens, "Words by their probability"), h("div", { class: "row presets", role: "group", "aria-label": "Presets" }, ...presets), ...rows, reset),
    recommend: (defaults) => {
      for (const [name, input] of inputs) {
        const value = (defaults as Record<string, unknown>)[name];
        input.placeholder = typeof value === "number" ? String(value) : "";
      }
    },
    values,
    wantsTokens: () => tokens.checked,
  };
}
