// The findings about a device, as Markdown to put into an issue.
import type { Engine, SelfTestReport } from "tokamak-web";
import { seconds } from "./numbers.ts";
import { type Outcome, isRight, isWrong } from "./suite.ts";

export function resultOf(outcomes: Outcome[], selfTest: SelfTestReport | null): { right: number; wrong: number } {
  const kernels = selfTest?.kernels ?? [];
  return {
    right: outcomes.filter(isRight).length + kernels.filter((one) => !one.failure && !one.skipped).length,
    wrong: outcomes.filter(isWrong).length + kernels.filter((one) => one.failure).length,
  };
}

/** The device and the browser, line by line; pages that report something begin with it. */
export function deviceLines({ model, adapter, pipelines, loadTimes }: Engine): string[] {
  return [
    `- model: ${model.name} (${model.architecture}, ${model.quantization}, context ${model.context})`,
    `- device: ${adapter.name}${adapter.software ? " (software, no GPU)" : ""}`,
    ...(adapter.driver ? [`- driver: ${adapter.driver}`] : []),
    `- features: ${adapter.features.join(", ") || "none"}; tier ${adapter.tier}; waits by ${adapter.waiting}`,
    `- loaded in ${seconds(loadTimes.total)}: ${pipelines} pipelines`,
    `- browser: ${navigator.userAgent}`,
  ];
}

function outcomeLine(outcome: Outcome): string {
  const { golden, found, differsAt, promptTokens, error, skipped } = outcome;
  const name = `${golden.kind} “${golden.prompt.slice(0, 40).replace(/\s+/g, " ")}”`;
  if (skipped) return `- ${name}: ${skipped}`;
  if (isRight(outcome)) return `- ${name}: right, ${golden.ids.length} tokens`;
  if (error) return `- **${name}: ${error}**`;
  const lines = [`- **${name}: WRONG**`];
  if (promptTokens !== undefined) lines.push(`  - prompt: ${promptTokens} tokens, expected ${golden.promptIds.length}`);
  if (differsAt !== undefined) {
    lines.push(`  - first difference at token ${differsAt + 1}, margin ${golden.margins[differsAt] ?? "unknown"}`);
    lines.push(`  - expected: ${golden.ids.join(" ")}`, `  - found: ${found?.join(" ") ?? ""}`);
  }
  return lines.join("\n");
}

export function reportText(engine: Engine, name: string, outcomes: Outcome[], selfTest: SelfTestReport | null): string {
  const { right, wrong } = resultOf(outcomes, selfTest);
  const parts = [`### Tokamak in a browser: ${wrong > 0 ? `${wrong} WRONG` : "all right"}, ${right} right`, "", `${name}, ${new Date().toISOString()}`, ""];
  parts.push(...deviceLines(engine));
  if (outcomes.length > 0) parts.push("", "#### Answers", "", ...outcomes.map(outcomeLine));
  if (selfTest) {
    const failed = selfTest.kernels.filter(({ failure }) => failure);
    const skipped = selfTest.kernels.filter((one) => !one.failure && one.skipped);
    parts.push("", "#### Kernels", "", `${selfTest.kernels.length - failed.length - skipped.length} right, ${failed.length} wrong, ${skipped.length} not for this device, in ${seconds(selfTest.seconds)}`);
    parts.push(...failed.map(({ kernel, failure }) => `- **${kernel}: ${failure}**`));
  }
  parts.push("", "<details><summary>Limits</summary>", "", ...Object.entries(engine.adapter.limits).map(([limit, value]) => `- ${limit}: ${value}`), "", "</details>");
  return `${parts.join("\n")}\n`;
}
