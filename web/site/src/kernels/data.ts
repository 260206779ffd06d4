// The catalogue of kernels beside the plan of the open model.
import type { Adapter, KernelPlace, Look, ModelPlan, PlanStep } from "tokamak-web";

export interface Kernel {
  name: string;
  op: string;
  needs: string[];
  /** The features that the device lacks; empty where the model runs on the CPU, which knows nothing of the GPU. */
  lacks: string[];
  launches: KernelPlace[];
  /** Reasons why steps of the plan passed it over, each with how many did. */
  refusals: Map<string, number>;
}

export interface Catalogue {
  kernels: Kernel[];
  plan: ModelPlan;
}

/** The browser's names of what kernels need. */
const FEATURES: Record<string, string> = {
  f16: "shader-f16",
  subgroups: "subgroups",
  dot4: "packed_4x8_integer_dot_product",
};

export async function catalogueOf(engine: Look): Promise<Catalogue> {
  const { kernels } = await engine.kernels();
  const plan = await engine.inspect("plan", { form: "json" });
  const list = kernels.map(({ name, needs, launches }): Kernel => {
    const needed = needs === "none" ? [] : needs.split(" ");
    const lacks = plan.backend === "cpu" ? [] : lacking(needed, engine.adapter);
    return { name, op: name.split(".")[0] ?? name, needs: needed, lacks, launches, refusals: new Map() };
  });
  const byName = new Map(list.map((kernel) => [kernel.name, kernel]));
  for (const { steps } of plan.phases) {
    for (const line of steps.flatMap((step) => step.passed_over)) {
      const colon = line.indexOf(": ");
      const refusals = byName.get(line.slice(0, colon))?.refusals;
      const reason = line.slice(colon + 2);
      refusals?.set(reason, (refusals.get(reason) ?? 0) + 1);
    }
  }
  return { kernels: list, plan };
}

function lacking(needed: string[], { features }: Adapter): string[] {
  return needed.filter((need) => !features.includes(FEATURES[need] ?? need));
}

/** "decode 3: f32[T,64] bf16[512,64] → f32[T,256]" */
export function placeTitle({ phase, step }: KernelPlace, plan: ModelPlan): string {
  const found = plan.phases[phase];
  const one = found?.steps[step];
  if (!found || !one) return `phase ${phase}, step ${step}`;
  const types = (operands: PlanStep["outputs"]) => operands.map(({ type }) => type).join(" ");
  return `${found.name} ${step}: ${types(one.inputs)} → ${types(one.outputs)}`;
}
