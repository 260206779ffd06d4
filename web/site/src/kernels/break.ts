// Breaks a kernel: an engine starts beside the open one with a wrong text, its self-test finds that, and another kernel takes the
// place of the wrong one.
import { type Engine, type LookOptions, type ModelPlan, type PlanPhase, type PlanStep, look, open } from "tokamak-web";
import { select, selection } from "../address.ts";
import { settings } from "../asked.ts";
import { h } from "../dom.ts";
import { bytes, seconds } from "../numbers.ts";
import { progressText } from "../opening.ts";
import { showError } from "../shell.ts";
import type { Model } from "../site_model.ts";
import { firstDifference } from "../suite.ts";
import { type Edit, editOf, flipped } from "./wrong_text.ts";

const PROMPT = "Once upon a time";
const TOKENS = 24;
/** The model is there twice for a while. */
const LARGEST = 1e9;

interface Text {
  kernel: string;
  wgsl: string;
}

/** The phase to show: of a token that is picked on the device, or the first one that runs the kernel. */
function phaseWith(kernel: string, { phases }: ModelPlan): string {
  const runs = ({ steps }: PlanPhase) => steps.some((step) => step.kernel === kernel);
  return (phases.find((one) => one.name === "greedy" && runs(one)) ?? phases.find(runs))?.name ?? "";
}

const stepsOf = ({ phases }: ModelPlan, phase: string): PlanStep[] => phases.find(({ name }) => name === phase)?.steps ?? [];

/** The steps of a phase as a row of boxes; `isMarked` ones stand out as `kind`. */
function rowOf(title: string, steps: PlanStep[], kind: string, isMarked: (step: PlanStep) => boolean): HTMLElement {
  const boxes = steps.map((step) => h("span", { class: isMarked(step) ? kind : "", title: step.kernel }));
  const label = `${title}: ${steps.length} dispatches, ${steps.filter(isMarked).length} of them ${kind === "is-wrong" ? "wrong" : "by another kernel"}`;
  return h("div", {}, h("p", { class: "hint" }, label), h("div", { class: "kernel-row broken-row", "aria-hidden": "true" }, ...boxes));
}

function diffOf({ line, from, to }: Edit): HTMLElement {
  const marked = (tag: "del" | "ins", text: string) => h(tag, {}, ...text.split("\n").map((one) => h("code", {}, `${tag === "del" ? "−" : "+"} ${one.trim()}`)));
  return h("div", { class: "diff" }, h("p", { class: "hint" }, `Line ${line + 1}, and wherever it stands again:`), marked("del", from), marked("ins", to));
}

export interface Breaker {
  readonly element: HTMLElement;
  show(model: Model<Engine>): void;
}

export function breaker(): Breaker {
  let model: Model<Engine> | null = null;
  let texts: Text[] = [];
  let plan: ModelPlan | null = null;
  let abort: AbortController | null = null;

  const start = h("button", { type: "button", class: "quiet" }, "Choose a kernel to break");
  const place = h("div");
  const element = h(
    "section",
    { "aria-label": "Break a kernel", id: "break" },
    h("h2", {}, "Break a kernel"),
    h("p", {}, "Before the first answer each kernel of the model is compared with the processor. Make one wrong and see: a second engine starts with it, beside the one that is open."),
    start,
    place,
  );

  const options = (): LookOptions => ({ ...settings().options, backend: "webgpu" });

  async function choose(): Promise<void> {
    if (!model) return;
    const { source, own: { model: { memory } } } = model;
    if (memory.total > LARGEST) throw new Error(`It takes the model twice, and this one has ${bytes(memory.total)}; open a smaller one for it.`);
    const found = await look(source, options());
    try {
      plan = await found.inspect("plan", { form: "json" });
      const { kernels } = await found.kernels();
      texts = [];
      for (const { name, launches: [first] } of kernels) {
        const wgsl = first && (await found.kernel(first)).wgsl;
        if (wgsl && flipped(wgsl)) texts.push({ kernel: name, wgsl });
      }
    } finally {
      await found.close();
    }
    drawChoice();
  }

  function drawChoice(): void {
    const asked = selection().values.get("break");
    const names = h("select", { id: "break-kernel" }, ...texts.map(({ kernel }) => h("option", { value: kernel, selected: kernel === (asked ?? likely()) }, kernel)));
    const editor = h("textarea", { id: "break-text", class: "mono", rows: 10, spellcheck: "false", wrap: "off", "aria-label": "WGSL of the kernel, to change" });
    const diff = h("div", { role: "status" });
    const run = h("button", { type: "button" }, "Start with the broken kernel");
    const outcome = h("div", { class: "outcome" });
    const text = () => texts.find(({ kernel }) => kernel === names.value);
    const edit = () => editOf(text()?.wgsl ?? "", editor.value);
    const drawDiff = () => {
      const now = edit();
      run.disabled = now === null;
      diff.replaceChildren(now ? diffOf(now) : h("p", { class: "hint" }, "The text is the kernel's own."));
    };
    const reset = () => {
      const made = flipped(text()?.wgsl ?? "");
      editor.value = made?.text ?? "";
      drawDiff();
      outcome.replaceChildren();
      editor.scrollTop = ((made?.line ?? 0) / editor.value.split("\n").length) * editor.scrollHeight - editor.clientHeight / 2;
    };
    names.addEventListener("input", () => {
      select(names, { break: names.value });
      reset();
    });
    editor.addEventListener("input", drawDiff);
    run.addEventListener("click", () => {
      const now = edit();
      if (now) void begin(names.value, now, outcome, run);
    });
    place.replaceChildren(
      h("div", { class: "row" }, h("label", { for: "break-kernel" }, "Kernel"), names, h("button", { type: "button", class: "quiet", onclick: reset }, "Flip one operator")),
      diff,
      h("details", {}, h("summary", {}, "Its whole text, to break it by hand"), editor),
      h("div", { class: "row" }, run),
      outcome,
    );
    start.hidden = true;
    reset();
  }

  /** The kernel that most steps of a token run. */
  function likely(): string | undefined {
    const steps = plan ? stepsOf(plan, "greedy") : [];
    const count = (name: string) => steps.filter(({ kernel }) => kernel === name).length;
    return texts.toSorted((a, b) => count(b.kernel) - count(a.kernel))[0]?.kernel;
  }

  async function begin(kernel: string, edit: Edit, outcome: HTMLElement, run: HTMLButtonElement): Promise<void> {
    if (!model || !plan) return;
    abort?.abort();
    const { signal } = (abort = new AbortController());
    const phase = phaseWith(kernel, plan);
    const isWrong = (step: PlanStep) => step.kernel === kernel;
    const status = h("p", { class: "status", role: "status" });
    outcome.replaceChildren(rowOf(`Before, ${phase}`, stepsOf(plan, phase), "is-wrong", isWrong), status);
    run.disabled = true;
    const notices: string[] = [];
    let second: Engine | null = null;
    try {
      second = await open(model.source, {
        ...options(),
        alter: { kernel, from: edit.from, to: edit.to },
        signal,
        onNotice: (text) => notices.push(text),
        onProgress: (progress) => (status.textContent = `${progressText(progress)} …`),
      });
      const after = await second.inspect("plan", { form: "json" });
      outcome.append(...verdictOf(kernel, { phase, before: plan, after, notices, time: second.loadTimes.test }));
      status.textContent = "Writing with the one and the other …";
      await compare(model, second, outcome);
      status.textContent = "";
    } catch (error) {
      status.textContent = "";
      if (!signal.aborted) outcome.append(h("p", { class: "wrong" }, `✗ The engine does not start with it: ${(error as Error).message}`));
    } finally {
      await second?.close();
      run.disabled = false;
    }
  }

  start.addEventListener("click", () => {
    place.replaceChildren(h("p", { class: "status", role: "status" }, "Reading the kernels …"));
    element.querySelector(":scope > .error")?.remove();
    void choose().catch((error: unknown) => {
      place.replaceChildren();
      showError(element, error);
    });
  });
  return {
    element,
    show: (found) => {
      abort?.abort();
      model = found;
      start.hidden = false;
      place.replaceChildren();
    },
  };
}

interface Started {
  phase: string;
  before: ModelPlan;
  after: ModelPlan;
  notices: string[];
  /** Seconds of the self-test. */
  time: number;
}

/** The outcome of the start with the broken kernel. */
function verdictOf(kernel: string, { phase, before, after, notices, time }: Started): HTMLElement[] {
  const all = after.phases.flatMap(({ steps }) => steps);
  const own = stepsOf(after, phase);
  const passedOver = all.flatMap(({ passed_over }) => passed_over);
  // A long list of what is not fused any more says little.
  const notice = (notices.at(-1) ?? "").replace(/\(([^,)]+, [^,)]+), [^)]*\)/, "($1 …)");
  const reason = passedOver.find((line) => line.startsWith(`${kernel}: computes wrongly`)) ?? `${kernel} is left out. ${notice}`;
  if (all.some((step) => step.kernel === kernel)) {
    return [h("p", { class: "wrong" }, `✗ The self-test (${seconds(time)}) finds nothing wrong with ${kernel}: this change does not show in its cases.`)];
  }
  const known = new Set(stepsOf(before, phase).map((step) => step.kernel));
  const others = [...new Set(own.map((step) => step.kernel).filter((name) => !known.has(name)))];
  return [
    h("p", { class: "wrong" }, `✗ ${reason}`),
    rowOf(`After, ${phase}`, own, "is-new", (step) => !known.has(step.kernel)),
    h("p", { class: "right" }, `✓ The self-test found it in ${seconds(time)}. `, others.length > 0 ? `In its place: ${others.join(", ")}.` : "The kernels that ran beside it run its steps."),
  ];
}

/** Both engines go on with the same text. */
async function compare({ own }: Model<Engine>, second: Engine, outcome: HTMLElement): Promise<void> {
  if (own.model.embeds || own.model.hears) return;
  const write = (engine: Engine) => engine.generate(PROMPT, { maxTokens: TOKENS, temperature: 0, repetitionPenalty: 1 }).result;
  const [expected, found] = [await write(own), await write(second)];
  const at = firstDifference(expected.ids, found.ids);
  const column = (title: string, text: string) => h("div", {}, h("h3", {}, title), h("p", { class: "text" }, PROMPT, text));
  outcome.append(
    h("div", { class: "two" }, column("The open engine", expected.text), column("With the broken kernel", found.text)),
    at === undefined
      ? h("p", { class: "right" }, `✓ The answer stays right: the same ${found.ids.length} tokens.`)
      : h("p", { class: "wrong" }, `✗ Token ${at + 1} is another one.`),
  );
}
