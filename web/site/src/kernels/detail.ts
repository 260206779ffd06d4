// One kernel: what it needs, where the model runs it, its text there, and which others were passed over.
import type { Look } from "tokamak-web";
import { h } from "../dom.ts";
import { finder } from "../finder.ts";
import { showError } from "../shell.ts";
import { type Catalogue, type Kernel, placeTitle } from "./data.ts";

const list = (lines: string[]) => h("ul", { class: "plain mono", tabindex: 0 }, ...lines.map((line) => h("li", {}, line)));

/** A sentence on the device. */
function onDevice({ needs, lacks }: Kernel, { plan }: Catalogue): string {
  if (plan.backend === "cpu") return "The model runs on the CPU, which uses none of these.";
  if (lacks.length > 0) return `No: it lacks ${lacks.join(" and ")}.`;
  return needs.length > 0 ? `Yes: it has ${needs.join(" and ")}.` : "Yes: every device does.";
}

export interface KernelDetail {
  readonly element: HTMLElement;
  show(kernel: Kernel): void;
}

export function kernelDetail(engine: Look, catalogue: Catalogue): KernelDetail {
  const element = h("section", { class: "detail-of-kernel", "aria-label": "The chosen kernel" });
  const wgsl = finder("WGSL");
  let shown: Kernel | null = null;

  async function showPlace(kernel: Kernel, index: number, reasons: HTMLElement): Promise<void> {
    const place = kernel.launches[index];
    if (!place) return;
    const text = await engine.kernel(place);
    if (shown !== kernel) return; // another one was chosen meanwhile
    wgsl.show(text.wgsl ?? "", `${kernel.name}.wgsl`);
    wgsl.element.hidden = text.wgsl === undefined;
    reasons.replaceChildren(
      h("h3", {}, "Passed over, the best first"),
      text.passedOver.length > 0 ? list(text.passedOver) : h("p", {}, "Nothing: it is the first choice."),
    );
  }

  function show(kernel: Kernel): void {
    shown = kernel;
    const { launches, refusals } = kernel;
    const facts: [string, string][] = [
      ["operation", kernel.op],
      ["needs", kernel.needs.join(", ") || "nothing beyond WebGPU"],
      ["the device", onDevice(kernel, catalogue)],
      ["the model", launches.length > 0 ? `runs it in ${launches.length} step${launches.length === 1 ? "" : "s"} of its plan` : "does not run it"],
    ];
    const parts: (Node | null)[] = [
      h("h2", { class: "mono" }, kernel.name),
      h("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    ];
    if (launches.length > 0) {
      const reasons = h("div");
      const places = h("select", { id: "kernel-place" }, ...launches.map((place, index) => h("option", { value: index }, placeTitle(place, catalogue.plan))));
      const update = () => void showPlace(kernel, Number(places.value), reasons).catch((error: unknown) => showError(element, error));
      places.addEventListener("input", update);
      wgsl.show("", "");
      parts.push(h("div", { class: "row" }, h("label", { for: "kernel-place" }, "Step"), places), reasons, h("h3", {}, "WGSL, as the device compiles it"), wgsl.element);
      update();
    } else if (refusals.size > 0) {
      const lines = [...refusals].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} step${count === 1 ? "" : "s"}: ${reason}`);
      parts.push(h("h3", {}, "Why the model's steps passed it over"), list(lines));
    } else if (catalogue.plan.backend === "webgpu") {
      parts.push(h("p", { class: "faint" }, "No step of the model asked for it: it has no such operation, or a better kernel came before."));
    }
    element.replaceChildren(...parts.filter((part) => part !== null));
  }
  return { element, show };
}
