// One kernel: what it needs, where the model runs it, its text there, and which others were passed over.
import type { KernelPlace, Look } from "tokamak-web";
import { h } from "../dom.ts";
import { finder } from "../finder.ts";
import { showError } from "../shell.ts";
import { withNumbers } from "./numbers_in_text.ts";
import { type Catalogue, type Kernel, placeTitle } from "./data.ts";

const list = (lines: string[]) => h("ul", { class: "plain mono", tabindex: 0 }, ...lines.map((line) => h("li", {}, line)));

/** A sentence on the device. */
function onDevice({ needs, lacks }: Kernel, { plan }: Catalogue): string {
  if (plan.backend === "cpu") return "The model runs on the CPU, which uses none of these.";
  if (lacks.length > 0) return `No: it lacks ${lacks.join(" and ")}.`;
  return needs.length > 0 ? `Yes: it has ${needs.join(" and ")}.` : "Yes: every device does.";
}

/** The reason for the choice: variants are tried from the best one on. */
function whyChosen({ op, needs }: Kernel, passedOver: number): string {
  const has = needs.length > 0 ? `, since the device has ${needs.join(" and ")}` : "";
  const what = op.replaceAll("_", " ");
  if (passedOver === 0) return `It is the best variant of ${what} for these operands${has}.`;
  return `${passedOver} variant${passedOver === 1 ? "" : "s"} of ${what} would be better, and ${passedOver === 1 ? "does" : "do"} not run here; this is the best that does${has}.`;
}

export interface KernelDetail {
  readonly element: HTMLElement;
  show(kernel: Kernel): void;
  /** Shows the kernel that is shown as that step of the plan has it. */
  showStep(place: KernelPlace): void;
}

export function kernelDetail(engine: Look, catalogue: Catalogue): KernelDetail {
  const element = h("section", { class: "detail-of-kernel", "aria-label": "The chosen kernel" });
  const numbers = h("input", { type: "checkbox", id: "kernel-numbers" });
  const wgsl = finder("WGSL", { language: "wgsl" }, h("label", { class: "check" }, numbers, "constants as numbers"));
  let shown: Kernel | null = null;
  let source = { text: "", name: "" };
  const showText = () => wgsl.show(numbers.checked ? withNumbers(source.text) : source.text, source.name);
  numbers.addEventListener("input", showText);

  async function showPlace(kernel: Kernel, index: number, reasons: HTMLElement): Promise<void> {
    const place = kernel.launches[index];
    if (!place) return;
    const text = await engine.kernel(place);
    if (shown !== kernel) return; // another one was chosen meanwhile
    source = { text: text.wgsl ?? "", name: `${kernel.name}.wgsl` };
    showText();
    wgsl.element.hidden = text.wgsl === undefined;
    reasons.replaceChildren(
      h("h3", {}, "Why it was chosen"),
      h("p", {}, whyChosen(kernel, text.passedOver.length)),
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
    if (catalogue.plan.backend === "webgpu") parts.push(h("p", {}, h("a", { href: "./validate.html" }, "Test the kernels against the processor")));
    if (launches.length > 0) {
      const reasons = h("div");
      const places = h("select", { id: "kernel-place" }, ...launches.map((place, index) => h("option", { value: index }, placeTitle(place, catalogue.plan))));
      const update = () => void showPlace(kernel, Number(places.value), reasons).catch((error: unknown) => showError(element, error));
      places.addEventListener("input", update);
      source = { text: "", name: "" };
      showText();
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
  const showStep = ({ phase, step }: KernelPlace) => {
    const places = element.querySelector("select");
    const index = shown?.launches.findIndex((one) => one.phase === phase && one.step === step) ?? -1;
    if (!places || index < 0) return;
    places.value = String(index);
    places.dispatchEvent(new Event("input"));
  };
  return { element, show, showStep };
}
