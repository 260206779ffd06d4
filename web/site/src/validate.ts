// The page that tells whether this device computes right.
import type { Engine, KernelTest, SelfTestReport } from "tokamak-web";
import { byId, copyButton, download, h, table } from "./dom.ts";
import { breaker } from "./kernels/break.ts";
import { seconds } from "./numbers.ts";
import { reportText, resultOf } from "./report.ts";
import { showError } from "./shell.ts";
import { joinEngine, type Model } from "./site_model.ts";
import { sideBySide } from "./side_by_side.ts";
import { type Golden, type Outcome, isRight, isWrong, readGoldens, runGolden } from "./suite.ts";
import { outcomeDetails } from "./outcome.ts";
import { textsOf } from "./token_view.ts";

/** Prompts of more tokens than this take the CPU minutes. */
const LONG = 100;
/** Characters of a prompt in the table. */
const SHOWN = 120;

const place = byId("validate");
let engine: Engine | null = null;
let model = "";
let goldens: Golden[] = [];
let outcomes: Outcome[] = [];
let selfTest: SelfTestReport | null = null;
let abort: AbortController | null = null;

const runPrompts = h("button", { type: "button", disabled: true }, "Check the answers");
const runKernels = h("button", { type: "button", class: "quiet", disabled: true }, "Test every kernel");
const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
const status = h("p", { class: "status", role: "status" });
const verdict = h("p", { class: "verdict", role: "status" });
const promptPlace = h("section", { "aria-label": "Answers" });
const besidePlace = h("section", { "aria-label": "Token by token" });
const kernelPlace = h("section", { "aria-label": "Kernels" });
const breaking = breaker();
const copy = copyButton(() => report(), "Copy the report");
const save = h("button", { type: "button", class: "quiet" }, "Save as JSON");
const reportRow = h("div", { class: "row", hidden: true }, copy, save);

const report = () => (engine ? reportText(engine, model, outcomes, selfTest) : "");

/** Runs one of the two checks with its buttons, and shows what goes wrong. */
async function under(what: (engine: Engine, signal: AbortSignal) => Promise<void>): Promise<void> {
  if (!engine) return;
  const own = new AbortController();
  abort = own;
  runPrompts.disabled = runKernels.disabled = true;
  stop.hidden = bar.hidden = false;
  bar.value = 0;
  place.querySelector(":scope > .error")?.remove();
  try {
    await what(engine, own.signal);
    status.textContent = "";
  } catch (error) {
    status.textContent = own.signal.aborted ? "Stopped." : "";
    if (!own.signal.aborted) showError(place, error);
  } finally {
    // A model that was opened meanwhile has its own state.
    if (abort === own) {
      runPrompts.disabled = goldens.length === 0;
      runKernels.disabled = false;
      stop.hidden = bar.hidden = true;
    }
    drawVerdict();
  }
}

function drawVerdict(): void {
  const { wrong, right } = resultOf(outcomes, selfTest);
  reportRow.hidden = right + wrong === 0;
  verdict.className = `verdict ${wrong > 0 ? "wrong" : "right"}`;
  if (right + wrong === 0) verdict.textContent = "";
  else if (wrong > 0) verdict.textContent = `✗ Wrong on this device: ${wrong} of ${right + wrong} checks.`;
  else verdict.textContent = `✓ Right on this device: ${right} of ${right} checks.`;
}

function resultCell(outcome: Outcome): HTMLElement {
  if (outcome.skipped) return h("span", { class: "faint" }, outcome.skipped);
  if (isRight(outcome)) return h("span", { class: "right" }, "✓ right");
  return h("span", { class: "wrong" }, "✗ wrong");
}

function drawPrompts(): void {
  const rows = outcomes.map((outcome) => {
    const { kind, prompt, promptIds, ids } = outcome.golden;
    const text = h("span", { class: "clipped", title: prompt.slice(0, SHOWN) }, prompt.slice(0, SHOWN));
    return [text, resultCell(outcome), outcome.seconds ? seconds(outcome.seconds) : "", kind, promptIds.length, ids.length];
  });
  const titles = ["Prompt", "Result", "Time", "Kind", "Tokens", "Answer"];
  const scroll = h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of answers" }, table(titles, rows));
  promptPlace.replaceChildren(h("h2", {}, "Answers"), scroll);
  for (const outcome of outcomes.filter(isWrong)) {
    promptPlace.append(outcomeDetails(outcome, (ids) => engine?.detokenize(ids) ?? Promise.resolve("")));
  }
}

async function checkPrompts(on: Engine, signal: AbortSignal): Promise<void> {
  outcomes = [];
  besidePlace.replaceChildren(h("h2", {}, "Token by token"));
  const slow = on.adapter.features.length === 0 || on.adapter.software;
  for (const [index, golden] of goldens.entries()) {
    bar.value = index / goldens.length;
    status.textContent = `Answer ${index + 1} of ${goldens.length} …`;
    const leaveOut = slow && golden.promptIds.length > LONG;
    const beside = sideBySide(golden, (ids) => textsOf(on, ids));
    if (!leaveOut) besidePlace.append(beside.element);
    const outcome = leaveOut
      ? { golden, skipped: "left out: long, and this is a CPU" }
      : await runGolden(on, golden, signal, beside.add);
    beside.end();
    outcomes.push(outcome);
    drawPrompts();
  }
}

function drawKernels({ kernels, seconds: time }: SelfTestReport): void {
  const wrong = kernels.filter(({ failure }) => failure);
  const skipped = kernels.filter((one) => !one.failure && one.skipped);
  const right = kernels.length - wrong.length - skipped.length;
  const text = `${right} right, ${wrong.length} wrong, ${skipped.length} not for this device, in ${seconds(time)}.`;
  const row = ({ kernel, cases, failure, skipped: why }: KernelTest) => [
    h("a", { href: `./kernels.html#${kernel}` }, h("code", {}, kernel)),
    failure || why ? "" : cases,
    failure ? h("span", { class: "wrong" }, `✗ ${failure}`) : why ? h("span", { class: "faint" }, why) : h("span", { class: "right" }, "✓ right"),
  ];
  const all = (list: KernelTest[], label: string) =>
    h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label }, table(["Kernel", "Cases", "Result"], list.map(row)));
  // A square for each; the tables have the words.
  const kindOf = ({ failure, skipped: why }: KernelTest) => (failure ? "is-wrong" : why ? "is-skipped" : "is-right");
  const squares = kernels.map((one) => h("span", { class: kindOf(one), title: `${one.kernel}: ${one.failure || one.skipped || "right"}` }));
  kernelPlace.replaceChildren(
    h("h2", {}, "Kernels"),
    h("p", { class: wrong.length > 0 ? "wrong" : "" }, text),
    h("div", { class: "squares", "aria-hidden": "true" }, ...squares),
    ...(wrong.length > 0 ? [all(wrong, "Kernels that are wrong")] : []),
    h("details", {}, h("summary", {}, "All kernels"), all(kernels, "All kernels")),
  );
}

async function checkKernels(on: Engine, signal: AbortSignal): Promise<void> {
  status.textContent = "Compiling the kernels …";
  const found = await on.selfTest({
    signal,
    onProgress: ({ done = 0, total = 0 }) => {
      bar.value = total ? done / total : 0;
      status.textContent = `Kernel ${done + 1} of ${total} …`;
    },
  });
  selfTest = found;
  drawKernels(selfTest);
}

async function opened(given: Model<Engine>): Promise<void> {
  const { own: found, name } = given;
  abort?.abort();
  abort = null;
  engine = found;
  model = name;
  outcomes = [];
  breaking.show(given);
  promptPlace.replaceChildren();
  besidePlace.replaceChildren();
  stop.hidden = bar.hidden = true;
  runKernels.disabled = false;
  try {
    goldens = (await readGoldens())[name] ?? [];
  } catch (error) {
    goldens = [];
    showError(place, error);
  }
  runPrompts.disabled = goldens.length === 0;
  status.textContent = goldens.length > 0 ? "" : "There are no recorded answers of this model; the kernels can be tested.";
  drawVerdict();
}

runPrompts.addEventListener("click", () => void under(checkPrompts));
runKernels.addEventListener("click", () => void under(checkKernels));
stop.addEventListener("click", () => abort?.abort());
save.addEventListener("click", () => {
  if (!engine) return;
  const { model: facts, adapter } = engine;
  download("tokamak-validate.json", JSON.stringify({ model: facts, adapter, browser: navigator.userAgent, outcomes, selfTest }, null, 1));
});

place.append(
  h("div", { class: "row" }, runPrompts, runKernels, stop),
  bar,
  status,
  verdict,
  reportRow,
  promptPlace,
  besidePlace,
  kernelPlace,
  breaking.element,
);
joinEngine({ place: byId("opener"), opened: (found) => void opened(found) });
