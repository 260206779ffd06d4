// The page that measures how fast a model runs, and shows it only where the results are right.
import type { BenchOptions, BenchReport, Engine } from "tokamak-web";
import { select, selection } from "./address.ts";
import { beside } from "./beside.ts";
import { TITLES, checkLines, facts, headline, markdown, testCells } from "./bench_report.ts";
import { byId, copyButton, download, h, table } from "./dom.ts";
import { keepBandwidth } from "./measured.ts";
import { placeOf } from "./opening.ts";
import { savePicture } from "./picture.ts";
import { showError } from "./shell.ts";
import { joinEngine } from "./site_model.ts";

/** Weights of more bytes than this take the CPU long to compare with. */
const SMALL = 100e6;

let engine: Engine | null = null;
let abort: AbortController | null = null;

/** "128, 512" */
const NUMBERS = "\\s*\\d{1,6}(\\s*[, ]\\s*\\d{1,6})*\\s*";

interface Field {
  element: HTMLElement;
  input: HTMLInputElement;
  numbers(): number[];
}

function field(id: string, title: string, value: string, meaning: string): Field {
  const input = h("input", { id, value, required: true, pattern: NUMBERS, inputmode: "numeric", autocomplete: "off", "aria-describedby": `${id}-meaning` });
  return {
    element: h("div", { class: "setting" }, h("label", { for: id }, title), input, h("p", { class: "hint", id: `${id}-meaning` }, meaning)),
    input,
    numbers: () => (input.value.match(/\d+/g) ?? []).map(Number),
  };
}

function box(id: string, title: string, checked: boolean): { element: HTMLElement; input: HTMLInputElement } {
  const input = h("input", { id, type: "checkbox", checked });
  return { input, element: h("label", { class: "box", for: id }, input, ` ${title}`) };
}

const prompts = field("prompts", "Prompts", "128", "Tokens that are read; several with commas, 0: none.");
const generate = field("generate", "Answers", "32", "Tokens that are written.");
const depths = field("depths", "After", "0", "Tokens that are there before.");
const repetitions = field("repetitions", "Repetitions", "3", "Of each test, after one to warm up.");
const bounds = box("bounds", "Measure what lower bounds need", true);
const check = box("check", "Compare with the CPU", true);
const run = h("button", { type: "submit", disabled: true }, "Measure");
const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
const bar = h("progress", { hidden: true, "aria-label": "Measuring" });
const status = h("p", { class: "status", role: "status" });
const results = h("section", { id: "results", "aria-label": "Results" });
const folded = h(
  "details",
  {},
  h("summary", {}, "What is measured"),
  h("div", { class: "settings" }, prompts.element, generate.element, depths.element, repetitions.element),
  h("div", { class: "row" }, bounds.element, check.element),
);
const form = h(
  "form",
  { class: "panel", novalidate: true },
  h("div", { class: "row" }, run, stop),
  bar,
  status,
  folded,
);

/** The fields that the address may set. */
const FIELDS = { prompts, generate, depths, repetitions };

/** The address has what differs from the page's own values. */
function fillFromAddress(): void {
  for (const [name, { input }] of Object.entries(FIELDS)) input.value = selection().values.get(name) ?? input.value;
}

const other = beside(() => {
  const asked = chosen();
  return asked && { tokens: Math.max(2, asked.generate?.[0] ?? 0), repetitions: asked.repetitions ?? 1 };
});

/** The options of the form, or null where a field is wrong, which the browser then shows. */
function chosen(): BenchOptions | null {
  folded.open ||= !form.checkValidity();
  if (!form.reportValidity()) return null;
  return {
    prompts: prompts.numbers(),
    generate: generate.numbers(),
    depths: depths.numbers(),
    repetitions: Math.max(1, repetitions.numbers()[0] ?? 1),
    bounds: bounds.input.checked,
    check: check.input.checked,
  };
}

function checkList(report: BenchReport): HTMLElement {
  const lines = checkLines(report.check).map(({ text, right }) =>
    h("li", { class: right ? "right" : "wrong" }, `${right ? "✓" : "✗"} ${text}`),
  );
  if (report.check.max_relative_error === null && report.backend !== "cpu") lines.push(h("li", { class: "faint" }, "Not compared with the CPU."));
  return h("ul", { class: "checks" }, ...lines);
}

function draw(report: BenchReport, on: Engine): void {
  if (!report.check.correct) {
    const text = "What this device computes is wrong, so no speed is shown: a fast wrong answer is worth nothing.";
    results.replaceChildren(h("h2", {}, "Results"), h("p", { class: "error", role: "alert" }, text), checkList(report));
    return;
  }
  const { number, words } = headline(report.tests);
  const speeds = table(TITLES, report.tests.map(testCells), 2);
  const picture = h("button", { type: "button", class: "quiet" }, "Save a picture");
  picture.addEventListener("click", () => savePicture(report, on).catch((error: unknown) => showError(results, error)));
  const json = h("button", { type: "button", class: "quiet" }, "Save as JSON");
  json.addEventListener("click", () => download("tokamak-bench.json", JSON.stringify(report, null, 1)));
  results.replaceChildren(
    h("h2", {}, "Results"),
    h("p", { class: "headline" }, h("strong", {}, number), ` ${words} on ${placeOf(on.adapter)}`),
    h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of speeds" }, speeds),
    checkList(report),
    h("dl", { class: "facts" }, ...facts(report, on).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("div", { class: "row" }, copyButton(() => markdown(report, on), "Copy as Markdown"), json, picture),
  );
}

async function measure(on: Engine, options: BenchOptions): Promise<void> {
  const own = new AbortController();
  abort = own;
  run.disabled = true;
  stop.hidden = bar.hidden = false;
  results.replaceChildren();
  form.querySelector(".error")?.remove();
  status.textContent = "Measuring …";
  try {
    const onProgress: BenchOptions["onProgress"] = ({ doing }) => {
      if (doing) status.textContent = `${doing} …`;
    };
    const report = await on.bench({ ...options, signal: own.signal, onProgress });
    if (on !== engine) return; // another model was opened meanwhile
    status.textContent = "";
    draw(report, on);
    if (report.check.correct) keepBandwidth(on.adapter, report.bandwidth_bytes_per_second);
  } catch (error) {
    if (on !== engine) return;
    status.textContent = own.signal.aborted ? "Stopped." : "";
    if (!own.signal.aborted) showError(form, error);
  } finally {
    if (abort === own) {
      run.disabled = false;
      stop.hidden = bar.hidden = true;
    }
  }
}

function opened(found: Engine): void {
  abort?.abort();
  abort = null;
  engine = found;
  results.replaceChildren();
  status.textContent = "";
  stop.hidden = bar.hidden = true;
  check.input.checked = found.model.memory.weights < SMALL;
  run.disabled = found.model.embeds;
  other.opened(found);
  if (found.model.embeds) status.textContent = "This model gives vectors; there is nothing to generate.";
}

form.addEventListener("input", () => {
  const changed = Object.entries(FIELDS).map(([name, { input }]) => [name, input.value === input.defaultValue ? undefined : input.value]);
  select(form, Object.fromEntries(changed) as Record<string, string | undefined>);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const options = chosen();
  if (engine && options) void measure(engine, options);
});
stop.addEventListener("click", () => abort?.abort());

fillFromAddress();
byId("bench").append(form, results, other.element);
joinEngine({ place: byId("opener"), opened: ({ own }) => opened(own) });
