"use strict";
// Heading, tables, graph, memory and sources; starts the drawing.
function draw_header() {
  const floor = steps.reduce((sum, step) => sum + step.floor, 0);
  const moved = steps.reduce((sum, step) => sum + step.bytes, 0);
  const computed = steps.reduce((sum, step) => sum + step.flops, 0);
  find("title").textContent = `${data.model}: ${data.phase} of ${data.tokens} token` +
    `${data.tokens === 1 ? "" : "s"} after ${data.depth}`;
  document.title = `Tokamak profile of ${data.model}`;
  find("about").textContent =
    "Times are the device's own, of each dispatch by itself, so their sum is a little more than " +
    "the step takes when dispatches follow one another without a stop.";
  find("origin").append(...data.origin.flatMap(([name, value]) =>
    [make("dt", {}, name), make("dd", {}, value)]));
  const figures = [
    ["dispatches", `${steps.length} (${data.unfused_steps} unfused)`],
    ["total", microseconds(total)],
    ["roofline", microseconds(floor)],
    ["of roofline", floor <= total ? percent(floor / total) : "beyond it, by caches"],
    ["memory traffic", `${bytes(moved)}, ${fixed(moved / total / 1e3, 1)} GB/s`],
    ["computed", `${flops(computed)}, ${flop_rate(computed / total * 1e6)}`],
  ];
  find("figures").append(...figures.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
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
    ["µs", (line) => [fixed(line.microseconds, 1)]],
    ["share", (line) => [percent(line.share)]],
    ["beside the longest", (line) => {
      const bar = make("span", {class: "bar"});
      bar.style.width = `${Math.max(1, 90 * line.microseconds / longest)}px`;
      return bar;
    }],
    ["operand", (line) => line.operand],
    ["launches", (line) => [`${line.launches}`]],
    ["each", (line) => [fixed(line.microseconds / line.launches, 2)]],
    ["GB/s", (line) => [fixed(line.bytes_per_second / 1e9, 1)]],
    ["GFLOP/s", (line) => [fixed(line.flops / 1e9, 1)]],
  ], data.kernels);
}

function draw_steps() {
  const table = find("step-table");
  draw_table(table, [
    ["#", (step) => [`${steps.indexOf(step)}`]],
    ["kernel", (step) => step.kernel],
    ["µs", (step) => [fixed(step.us, 2)]],
    ["layer", (step) => [step.layer === null ? "" : `${step.layer}`]],
    ["weight", (step) => weight_of(step)],
    ["reads", (step) => step.reads],
    ["makes", (step) => step.makes],
    ["GB/s", (step) => [fixed(step.moved, 1)]],
    ["GFLOP/s", (step) => [fixed(step.computed * 1e3, 1)]],
    ["of roofline", (step) => [percent(step.share)]],
    ["bound by", (step) => step.bound],
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
                 table: "page tables", batch: "batch", input: "inputs", choice: "chosen tokens"};
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
find("rows").value = layer_count > 1 && layer_count <= most_lanes ? "layers" : "one";
find("before").parentElement.hidden = !has_origins;
draw_timeline();
draw_roofline();
draw_fusion();
draw_memory();
draw_sources();
select(steps.reduce((best, step, index) => (step.us > steps[best].us ? index : best), 0), false);
for (const id of ["color", "rows", "before"]) find(id).addEventListener("change", draw_timeline);
find("zoom").addEventListener("input", () => { draw_timeline(); select(selected); });
find("changed").addEventListener("change", draw_fusion);
find("track").addEventListener("keydown", on_key);
