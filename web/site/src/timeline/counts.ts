// The view of a step without the device's clock: its dispatches, counted.
import type { Engine, PlanPhase } from "tokamak-web";
import { h, table } from "../dom.ts";
import { bytes } from "../numbers.ts";

function phaseTable({ steps }: PlanPhase): HTMLElement {
  const kernels = new Map<string, { count: number; moved: number }>();
  for (const { kernel, bytes: moved } of steps) {
    const line = kernels.get(kernel) ?? { count: 0, moved: 0 };
    kernels.set(kernel, { count: line.count + 1, moved: line.moved + moved });
  }
  const rows = [...kernels].sort(([, a], [, b]) => b.moved - a.moved);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of dispatches" },
    table(["kernel", "dispatches", "bytes"], rows.map(([name, { count, moved }]) => [h("span", { class: "mono" }, name), count, bytes(moved)]), 1),
  );
}

/** Each phase of the plan: prompts, decoding. */
export async function counts(engine: Engine): Promise<HTMLElement[]> {
  const { phases } = await engine.inspect("plan", { form: "json" });
  return phases.flatMap((phase) => [
    h("h2", {}, `${phase.name}: ${phase.steps.length} dispatches for up to ${phase.max_tokens} token${phase.max_tokens === 1 ? "" : "s"}`),
    phaseTable(phase),
  ]);
}
