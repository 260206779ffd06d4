"use strict";
// The page, made from the document in #data that report/profile_page.cpp writes.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);

/** An element with attributes and children; children are elements or text. */
function make(name, attributes = {}, ...children) {
  const svg = ["svg", "rect", "line", "path", "circle", "text", "title"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                      : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    // A style as an attribute would need a content security policy that allows inline styles.
    if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const fixed = (value, digits) =>
  value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
function microseconds(us) {
  if (us >= 1e6) return `${fixed(us / 1e6, 2)} s`;
  return us >= 1000 ? `${fixed(us / 1000, 2)} ms` : `${fixed(us, 1)} µs`;
}
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
  const memory = step.bytes / data.bandwidth, computing = step.flops / data.peak_flops;
  step.bound = computing > memory ? "computing" : "memory";
  step.floor = (Math.max(memory, computing) + data.launch_seconds) * 1e6;
  step.share = step.us > 0 ? step.floor / step.us : 1;
  step.moved = step.us > 0 ? step.bytes / step.us / 1e3 : 0;       // GB/s
  step.computed = step.us > 0 ? step.flops / step.us / 1e6 : 0;    // TFLOP/s
}
const ops = [...new Set(steps.map((step) => step.op))].sort(
  (a, b) => time_of(b) - time_of(a));
function time_of(op) {
  return steps.reduce((sum, step) => sum + (step.op === op ? step.us : 0), 0);
}
/** The operations in whose place a dispatch stands, of "rms_norm {eps=1e-06} ..."; none where others finish its work. */
const has_origins = data.fusion.length === steps.length;
const origins = (index) => (has_origins ? data.fusion[index].unfused.map((text) => text.split(" ")[0]) : []);
const all_ops = [...new Set([...ops, ...steps.flatMap((_, index) => origins(index))])];
const op_color = (op) => `var(--c${all_ops.indexOf(op) % 10})`;
/** Two hues that nobody mixes up: the first at the roofline, the second far from it. */
const floor_color = (share) =>
  `color-mix(in oklab, var(--c0) ${Math.round(100 * Math.min(share, 1))}%, var(--c1))`;
/** "layers.3.mlp.down_proj.weight bf16[64,96]" as in a table. */
const weight_of = (step) => (step.weights.length ? step.weights[0].split(" ")[0] : "");

