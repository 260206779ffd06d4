"use strict";
// Draws the page from the document in #data, which report/profile_page.cpp writes.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);

/** An element with attributes and children; children are elements or text. */
function make(name, attributes = {}, ...children) {
  const svg = ["svg", "rect", "line", "text", "title"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                      : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const fixed = (value, digits) =>
  value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
const microseconds = (us) => (us >= 1000 ? `${fixed(us / 1000, 2)} ms` : `${fixed(us, 1)} µs`);
function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (count >= 1024 && unit < 3) [count, unit] = [count / 1024, unit + 1];
  return `${fixed(count, unit ? 2 : 0)} ${units[unit]}`;
}
const arrow = (text) => text.replace("->", "→");
const percent = (share) => `${fixed(100 * share, 1)} %`;

const steps = data.steps;
const total = steps.reduce((sum, step) => sum + step.us, 0);
for (const step of steps) {
  step.floor = (step.bytes / data.bandwidth + data.launch_seconds) * 1e6;
  step.share = step.us > 0 ? step.floor / step.us : 1;
  step.moved = step.us > 0 ? step.bytes / step.us / 1e3 : 0;       // GB/s
  step.computed = step.us > 0 ? step.flops / step.us / 1e6 : 0;    // TFLOP/s
}
const ops = [...new Set(steps.map((step) => step.op))].sort(
  (a, b) => time_of(b) - time_of(a));
function time_of(op) {
  return steps.reduce((sum, step) => sum + (step.op === op ? step.us : 0), 0);
}
const op_color = (op) => `var(--c${Math.min(ops.indexOf(op), 9)})`;
/** Green at the floor, red far above it. */
const floor_color = (share) => `hsl(${Math.round(125 * Math.min(share, 1))} 48% var(--floor))`;

function draw_header() {
  const floor = steps.reduce((sum, step) => sum + step.floor, 0);
  const moved = steps.reduce((sum, step) => sum + step.bytes, 0);
  find("title").textContent = `${data.model}: ${data.phase} of ${data.tokens} token` +
    `${data.tokens === 1 ? "" : "s"} after ${data.depth}`;
  document.title = `Tokamak profile of ${data.model}`;
  find("about").textContent = `${data.architecture} on ${data.device}, ${data.driver}. ` +
    "Times are the device's own, of each dispatch by itself, so their sum is a little more than " +
    "the step takes when dispatches follow one another without a stop.";
  const figures = [
    ["dispatches", `${steps.length} (${data.unfused_steps} unfused)`],
    ["sum of their times", microseconds(total)],
    ["floor", microseconds(floor)],
    ["of the floor", percent(floor / total)],
    ["moved", `${bytes(moved)}, ${fixed(moved / total / 1e3, 1)} GB/s`],
    ["measured bandwidth", `${fixed(data.bandwidth / 1e9, 1)} GB/s`],
    ["a dispatch at least", microseconds(data.launch_seconds * 1e6)],
  ];
  find("figures").append(...figures.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

let selected = 0;

function draw_track() {
  const by_floor = find("color").value === "floor";
  const zoom = 2 ** Number(find("zoom").value);
  const track = find("track");
  track.style.width = `calc(${100 * zoom}% - 6px)`;
  track.replaceChildren(...steps.map((step, index) => {
    const share = total > 0 ? step.us / total : 0;
    const part = make("div", {
      role: "option", id: `step-${index}`, title: `${step.kernel}: ${microseconds(step.us)}`,
      "aria-label": `${index}: ${step.kernel}, ${microseconds(step.us)}`,
      "aria-selected": index === selected,
    }, share * zoom > 0.06 ? step.op : "");
    part.style.width = `${100 * share}%`;
    part.style.background = by_floor ? floor_color(step.share) : op_color(step.op);
    part.addEventListener("click", () => select(index));
    return part;
  }));
  const entries = by_floor
    ? [1, 0.75, 0.5, 0.25, 0].map((share) => [floor_color(share), `${100 * share} % of the floor`])
    : ops.map((op) => [op_color(op), `${op} ${percent(time_of(op) / total)}`]);
  find("legend").replaceChildren(...entries.map(([color, text]) => {
    const mark = make("span");
    mark.style.background = color;
    return make("li", {}, mark, text);
  }));
  track.setAttribute("aria-activedescendant", `step-${selected}`);
}

function select(index, scroll = true) {
  selected = Math.max(0, Math.min(steps.length - 1, index));
  const step = steps[selected];
  for (const part of find("track").children) {
    part.setAttribute("aria-selected", part.id === `step-${selected}`);
  }
  find("track").setAttribute("aria-activedescendant", `step-${selected}`);
  for (const row of find("step-table").tBodies[0].rows) {
    row.setAttribute("aria-selected", row.sectionRowIndex === selected);
  }
  const source = step.source < 0 ? "none" : make("a", {href: `#source-${step.source}`}, "WGSL");
  if (step.source >= 0) {
    source.addEventListener("click", () => { find(`source-${step.source}`).open = true; });
  }
  const facts = [
    ["time", `${microseconds(step.us)}, ${percent(step.us / total)} of the step`],
    ["floor", `${microseconds(step.floor)}, reached to ${percent(step.share)}`],
    ["moved", `${bytes(step.bytes)}, ${fixed(step.moved, 1)} GB/s`],
    ["computed", `${fixed(step.flops / 1e6, 1)} MFLOP, ${fixed(step.computed, 3)} TFLOP/s`],
    ["problem", make("code", {}, arrow(step.problem))],
    ["workgroups", step.grid.join(" × ")],
    ["passed over", step.passed_over.length ? step.passed_over.join("; ") : "nothing"],
    ["source", source],
  ];
  find("detail").replaceChildren(
    make("h3", {}, `${selected}: ${step.kernel}`),
    make("dl", {}, ...facts.flatMap(([name, value]) =>
      [make("dt", {}, name), make("dd", {}, value)])));
  if (scroll) {
    find(`step-${selected}`).scrollIntoView({block: "nearest", inline: "nearest"});
  }
}

function on_key(event) {
  const moves = {ArrowRight: selected + 1, ArrowDown: selected + 1, ArrowLeft: selected - 1,
                 ArrowUp: selected - 1, Home: 0, End: steps.length - 1};
  if (!(event.key in moves)) return;
  event.preventDefault();
  select(moves[event.key]);
}

/** `columns`: title, cell of a row (text, or [text] for numbers). */
function draw_table(table, columns, rows) {
  const numeric = (cell) => Array.isArray(cell);
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row)));
  const head = columns.map(([title], i) =>
    make("th", {scope: "col", class: cells.length && numeric(cells[0][i]) ? "n" : ""}, title));
  table.replaceChildren(
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...cells.map((row) => make("tr", {}, ...row.map((cell) =>
      make("td", {class: numeric(cell) ? "n" : "code"}, numeric(cell) ? cell[0] : cell))))));
}

function draw_kernels() {
  const longest = Math.max(...data.kernels.map((line) => line.microseconds));
  draw_table(find("kernel-table"), [
    ["kernel", (line) => line.kernel],
    ["operand", (line) => line.operand],
    ["launches", (line) => [`${line.launches}`]],
    ["µs", (line) => [fixed(line.microseconds, 1)]],
    ["each", (line) => [fixed(line.microseconds / line.launches, 2)]],
    ["share", (line) => [percent(line.share)]],
    ["", (line) => {
      const bar = make("span", {class: "bar"});
      bar.style.width = `${Math.max(1, 90 * line.microseconds / longest)}px`;
      return bar;
    }],
    ["GB/s", (line) => [fixed(line.bytes_per_second / 1e9, 1)]],
    ["GFLOP/s", (line) => [fixed(line.flops / 1e9, 1)]],
  ], data.kernels);
}

function draw_steps() {
  const table = find("step-table");
  draw_table(table, [
    ["#", (step) => [`${steps.indexOf(step)}`]],
    ["kernel", (step) => step.kernel],
    ["makes", (step) => step.makes],
    ["reads", (step) => step.reads],
    ["µs", (step) => [fixed(step.us, 2)]],
    ["GB/s", (step) => [fixed(step.moved, 1)]],
    ["TFLOP/s", (step) => [fixed(step.computed, 3)]],
    ["of floor", (step) => [percent(step.share)]],
  ], steps);
  [...table.tBodies[0].rows].forEach((row, index) =>
    row.addEventListener("click", () => select(index, false)));
}

function draw_fusion() {
  const only = find("changed").checked;
  const rows = data.fusion.filter((row) => !only || row.unfused.length !== 1);
  const before = data.fusion.reduce((sum, row) => sum + row.unfused.length, 0);
  find("fusion-about").textContent =
    `${before} operations became ${data.fusion.length}. ` +
    data.passes.filter((pass) => pass.count > 0)
      .map((pass) => `${pass.name}: ${pass.count}`).join(", ") + ".";
  const table = find("fusion-table");
  table.replaceChildren(
    make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "as the architecture writes it"),
                           make("th", {scope: "col"}, "after fusion"))),
    make("tbody", {}, ...rows.map((row) => make("tr",
      {class: row.unfused.length === 1 ? "" : "changed"},
      make("td", {class: "code"}, ...row.unfused.map((text) => make("div", {}, arrow(text)))),
      make("td", {class: "code"}, arrow(row.fused))))));
}

/** Intervals of steps in which a buffer holds one tensor. */
function lifetimes(buffer) {
  const spans = [];
  steps.forEach((step, index) => {
    if (step.outputs.includes(buffer)) spans.push({first: index, last: index});
    else if (step.inputs.includes(buffer) && spans.length) spans[spans.length - 1].last = index;
  });
  return spans;
}

function draw_memory() {
  const sums = {};
  for (const buffer of data.buffers) sums[buffer.use] = (sums[buffer.use] ?? 0) + buffer.bytes;
  const all = Object.values(sums).reduce((sum, count) => sum + count, 0);
  const names = {constant: "weights", state: "states and KV cache", copy: "copies of states", activation: "activations",
                 table: "page tables", frame: "frame", choice: "chosen tokens"};
  const uses = Object.keys(sums).sort((a, b) => sums[b] - sums[a]);
  find("memory-about").textContent = `${bytes(all)} on the device: ` +
    uses.map((use) => `${names[use] ?? use} ${bytes(sums[use])}`).join(", ") + ".";
  find("shares").replaceChildren(...uses.map((use, index) => {
    const text = `${names[use] ?? use} ${percent(sums[use] / all)}`;
    const part = make("div", {title: text}, sums[use] / all > 0.12 ? text : "");
    part.style.width = `${100 * sums[use] / all}%`;
    part.style.background = `var(--c${index})`;
    return part;
  }));
  const buffers = data.buffers.filter((buffer) => buffer.use === "activation")
    .map((buffer) => ({...buffer, spans: lifetimes(buffer.id)}))
    .filter((buffer) => buffer.spans.length).sort((a, b) => b.bytes - a.bytes);
  const left = 118, row = 20;
  const width = Math.max(640, Math.min(1180, left + steps.length * 9)), bottom = buffers.length * row;
  const x = (step) => left + (width - left - 4) * step / steps.length;
  const svg = make("svg", {width, height: bottom + 22, role: "img",
                           "aria-label": `${buffers.length} buffers of activations over the steps`});
  buffers.forEach((buffer, index) => {
    const y = index * row;
    svg.append(make("text", {x: 0, y: y + 14}, `${buffer.id}: ${bytes(buffer.bytes)}`),
               make("line", {x1: left, x2: width, y1: y + row - 1, y2: y + row - 1, class: "row"}));
    for (const span of buffer.spans) {
      svg.append(make("rect", {
        x: x(span.first) + 0.5, y: y + 3, width: Math.max(1.5, x(span.last + 1) - x(span.first) - 1),
        height: row - 7, rx: 2, style: `fill: ${op_color(steps[span.first].op)}`,
      }, make("title", {}, `${steps[span.first].makes} by step ${span.first} ` +
                           `(${steps[span.first].kernel}), read until step ${span.last}`)));
    }
  });
  const labels = Math.min(8, steps.length);
  for (let i = 0; i < labels; ++i) {
    const step = Math.floor(i * steps.length / labels);
    svg.append(make("text", {x: x(step), y: bottom + 16}, `${i === 0 ? "step " : ""}${step}`));
  }
  find("lifetimes").replaceChildren(svg);
}

function draw_sources() {
  find("source-list").replaceChildren(...data.sources.map((source, index) => {
    const uses = steps.filter((step) => step.source === index);
    const time = uses.reduce((sum, step) => sum + step.us, 0);
    return make("details", {id: `source-${index}`},
      make("summary", {}, make("code", {}, source.kernel),
        ` ${uses.length} dispatch${uses.length === 1 ? "" : "es"}, ${microseconds(time)}, ` +
        `${source.text.split("\n").length} lines`),
      make("pre", {tabindex: "0"}, source.text));
  }));
}

draw_header();
draw_kernels();
draw_steps();
draw_track();
draw_fusion();
draw_memory();
draw_sources();
select(steps.reduce((best, step, index) => (step.us > steps[best].us ? index : best), 0), false);
find("color").addEventListener("change", draw_track);
find("zoom").addEventListener("input", () => { draw_track(); select(selected); });
find("changed").addEventListener("change", draw_fusion);
find("track").addEventListener("keydown", on_key);
