// The life of a token: the kernels from its embedding through the layers to the choice of the next one.
import type { ModelPlan, PlanPhase, PlanStep } from "tokamak-web";
import { h } from "../dom.ts";
import { bytes } from "../numbers.ts";

export interface Stage {
  /** The layers that run these kernels; none for what is before and after them. */
  layers: number[];
  /** The steps of the first of them, by their numbers. */
  steps: number[];
}

/** The layer of a step by the names of its weights and states, "layers.3.mlp..." or "kv.3". */
function layerOf({ inputs, outputs }: PlanStep, names: Map<number, string>): number | null {
  const own = [...inputs, ...outputs].map(({ buffer }) => names.get(buffer ?? -1) ?? "");
  // The head may finish the last layer's sum.
  if (own.some((name) => /^(.*\.)?(embed_tokens|token_embd|wte|lm_head|output)\.weight/.test(name))) return null;
  const found = own.map((name) => /(?:^|\.)(?:layers|layer|blk|h|kv|state)\.(\d+)(?:\.|$)/.exec(name)).find(Boolean);
  return found ? Number(found[1]) : null;
}

/** Steps of no layer between two of one layer are that layer's. */
function layersOf({ steps }: PlanPhase, { buffers = [] }: ModelPlan): (number | null)[] {
  const names = new Map(buffers.map(({ id, tensor = "" }) => [id, tensor]));
  const found = steps.map((step) => layerOf(step, names));
  return found.map((layer, at) => {
    if (layer !== null) return layer;
    const before = found.slice(0, at).findLast((one) => one !== null);
    const after = found.slice(at).find((one) => one !== null);
    return before !== undefined && before === after ? before! : null;
  });
}

/** The stages of a phase in their order; layers that run the same kernels are one. */
export function stagesOf(phase: PlanPhase, plan: ModelPlan): Stage[] {
  const layers = layersOf(phase, plan);
  const stages: (Stage & { key: string })[] = [];
  for (let at = 0; at < layers.length; ) {
    const layer = layers[at]!;
    let end = at + 1;
    while (end < layers.length && layers[end] === layer) end += 1;
    const steps = Array.from({ length: end - at }, (_, index) => at + index);
    const key = layer === null ? `at ${at}` : steps.map((step) => phase.steps[step]!.kernel).join(" ");
    const same = stages.find((stage) => stage.key === key);
    if (same && layer !== null) same.layers.push(layer);
    else stages.push({ key, layers: layer === null ? [] : [layer], steps });
    at = end;
  }
  return stages.map(({ layers: own, steps }) => ({ layers: own, steps }));
}

/** Words for what operations do; the others say it by their names. */
const WORDS: Record<string, string> = {
  embed: "Takes the row of the token out of the table.",
  rms_norm: "Scales the row to a length of one.",
  linear: "Multiplies by a matrix of weights.",
  fused_linear: "Normalizes, multiplies by a matrix of weights, adds what went round it.",
  rope: "Turns queries and keys by their position.",
  rope_append: "Turns queries and keys by their position, and keeps key and value.",
  attention: "Compares with every token before, and mixes their values.",
  step_attention: "Turns and keeps key and value, compares with every token before, mixes their values.",
  glu: "Lets one half of the row through as the other one says.",
  linear_glu: "Multiplies by two matrices; one opens the gate for the other.",
  gated_ffn: "Normalizes, opens and closes gates, comes back to the row: the whole feed-forward part.",
  add: "Adds what went round the part.",
  add_rms_norm: "Adds what went round the part, and normalizes.",
  block_maxima: "Finds the largest logits of each block.",
  next_token: "Chooses the most probable token.",
  sample_token: "Draws the token by its probability.",
};

function box(step: PlanStep, chosen: () => void): HTMLElement {
  const weights = step.inputs[1]?.type ?? step.outputs[0]?.type ?? "";
  return h(
    "button",
    { type: "button", class: "quiet life-step", onclick: chosen, title: WORDS[step.op] ?? "" },
    h("strong", {}, step.op.replaceAll("_", " ")),
    h("span", { class: "mono" }, weights),
    h("span", {}, step.bytes === undefined ? "" : bytes(step.bytes)),
  );
}

const count = (layers: number[]) => (layers.length === 0 ? "" : layers.length === 1 ? `layer ${layers[0]}` : `× ${layers.length} layers`);

/** `choose` gets the phase and the step of the box that is pressed. */
export function lifeOfToken(plan: ModelPlan, choose: (phase: number, step: number) => void): HTMLElement | null {
  const index = Math.max(plan.phases.findIndex(({ name }) => name === "greedy"), plan.phases.findIndex(({ max_tokens }) => max_tokens === 1), 0);
  const phase = plan.phases[index];
  if (!phase || plan.backend === "cpu") return null;
  const words = h("p", { class: "hint", role: "status" }, `${phase.steps.length} dispatches make a token. Choose one to see its text, why it was chosen and what was passed over.`);
  let current: Element | null = null;
  const stages = stagesOf(phase, plan).map(({ layers, steps }) =>
    h(
      "li",
      { class: layers.length > 0 ? "life-layer" : "" },
      ...steps.map((step) => {
        const own = phase.steps[step]!;
        const made: HTMLElement = box(own, () => {
          current?.removeAttribute("aria-current");
          made.setAttribute("aria-current", "true");
          current = made;
          words.textContent = `${own.kernel}: ${WORDS[own.op] ?? own.op.replaceAll("_", " ")} ${(own.grid ?? []).join(" × ")} workgroups.`;
          choose(index, step);
        });
        return made;
      }),
      layers.length > 0 && h("span", { class: "life-count" }, count(layers)),
    ));
  return h("section", { class: "life", "aria-label": "The life of a token" }, h("h2", {}, "The life of a token"), h("ol", {}, ...stages), words);
}
